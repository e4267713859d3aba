// @ts-check
import { shared } from "../context.js";
import { sleep } from "../natives.js";
import { traffic } from "../traffic.js";
import {
  followWindow,
  holdsNavigation,
  refuseRefresh,
  releaseNavigations,
  stayOnPage,
} from "../world.js";
import { equal, show } from "./check.js";

export const cases = {
  "dialogs are answered and noted": () => {
    alert("hello");
    equal([confirm("sure?"), prompt("name?"), prompt("name?", "x")], [true, "argiope", "x"]);
    const kinds = shared.notes.map(([, kind, text]) => [kind, text]);
    const [ask, again] = [
      ["prompt", "name?"],
      ["prompt", "name?"],
    ];
    equal(kinds, [["alert", "hello"], ["confirm", "sure?"], ask, again]);
  },
  "a question that asks for something dangerous is refused": () => {
    settings.braked = "log out|delete all|удалить все|すべて削除";
    settings.allowed = "delete all drafts";
    equal(confirm("Do you want to LOG OUT?"), false);
    equal([confirm("Catalog outdated?"), confirm("Log in?")], [true, true]);
    equal([confirm("Delete all?"), confirm("Delete all drafts?")], [false, true]);
    equal([confirm("Удалить всё?"), confirm("本当にすべて削除しますか")], [false, false]);
    equal(shared.notes[0], ["dialog", "refused confirm", "Do you want to LOG OUT?"]);
  },
  "a window that no action opens is refused and noted with its address": () => {
    equal(window.open("/other"), null);
    equal(shared.notes, [["window", `${location.origin}/other`]]);
  },
  "a window of the application opens here, once in a step": () => {
    shared.mayOpen = true;
    equal(window.open("/other", "popup") === window, true);
    equal([holdsNavigation(), window.open("/more")], [true, null]);
    equal(shared.notes, [["window", `${location.origin}/more`]]);
  },
  "a window of another host is refused and noted": () => {
    shared.mayOpen = true;
    equal(window.open("http://outside.invalid/"), null);
    equal([shared.notes, shared.mayOpen], [[["window", "http://outside.invalid/"]], true]);
    equal([window.open(), holdsNavigation()], [null, false]);
  },
  "a link into a new window is followed here": async () => {
    shared.mayOpen = true;
    const link = show('<a href="/next" target="_blank">next</a>');
    equal([followWindow(link), shared.linked], [true, `${location.origin}/next`]);
    equal([shared.leaving, holdsNavigation()], [true, false]);
    await sleep(100);
    equal(holdsNavigation(), true);
    equal(followWindow(show('<a href="/next" target="_top">next</a>')), false);
    show('<iframe name="inner"></iframe><a href="/next" target="inner">next</a>');
    equal(followWindow(/** @type {any} */ (document.body.lastElementChild)), false);
  },
  "a form into a new window is sent here, and keeps its target": async () => {
    const form = show('<form action="/sent" target="_blank"><input name="a"></form>');
    form.requestSubmit();
    equal(form.target, "_self");
    for (let round = 0; round < 100 && form.target !== "_blank"; round++) await sleep(10);
    equal([holdsNavigation(), form.target], [true, "_blank"]);
  },
  "a refresh does not leave the page, a script does": async () => {
    refuseRefresh(`${location.origin}/other`);
    const meta = document.createElement("meta");
    meta.httpEquiv = "refresh";
    meta.content = "0;url=/late";
    document.head.append(meta);
    await sleep(300);
    equal([shared.notes, holdsNavigation()], [[], false]);
    location.assign("/late");
    equal(holdsNavigation(), true);
  },
  "notes are bounded in number and length": () => {
    for (let times = 0; times < 200; times++) alert("x".repeat(5000));
    equal([shared.notes.length, shared.notes[0][2].length], [100, 2000]);
  },
  "a route within the document is noted": () => {
    history.pushState(null, "", "/route");
    equal(shared.notes, [["route", `${location.origin}/route`]]);
    equal(shared.leaving, undefined);
  },
  "a navigation out of scope is stopped and noted": () => {
    location.href = "http://outside.invalid/";
    equal(shared.notes, [["out-of-scope", "http://outside.invalid/"]]);
    equal(holdsNavigation(), false);
  },
  "a download is refused and noted": () => {
    show('<a href="/file" download>file</a>').click();
    equal(shared.notes, [["download", `${location.origin}/file`]]);
  },
  "the first navigation is held until it is watched": () => {
    show('<a href="/next">next</a>').click();
    equal([holdsNavigation(), shared.leaving], [true, true]);
    equal(shared.linked, `${location.origin}/next`);
    releaseNavigations();
    equal([holdsNavigation(), shared.released, settings.guarded], [false, true, true]);
    stayOnPage();
    equal([shared.leaving, shared.released], [false, false]);
  },
  "a promised event holds the page until it comes": async () => {
    window.addEventListener("popstate", () => {});
    history.pushState(null, "", "#one");
    history.back();
    equal(
      [...traffic.pending.values()].map(({ reason }) => reason),
      ["event:popstate"],
    );
    for (let round = 0; round < 100 && traffic.pending.size; round++) await sleep(10);
    equal(traffic.pending.size, 0);
  },
};
