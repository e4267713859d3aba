// @ts-check
import { shared } from "../context.js";
import { sleep } from "../natives.js";
import { traffic } from "../traffic.js";
import { holdsNavigation, note, releaseNavigations, stayOnPage } from "../world.js";
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
  "a new window is refused and noted with its address": () => {
    equal(window.open("/other"), null);
    equal(shared.notes, [["window", `${location.origin}/other`]]);
  },
  "notes are bounded in number and length": () => {
    for (let times = 0; times < 200; times++) note("dialog", "alert", "x".repeat(5000));
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
    equal([...traffic.pending.values()], ["event:popstate"]);
    for (let round = 0; round < 100 && traffic.pending.size; round++) await sleep(10);
    equal(traffic.pending.size, 0);
  },
};
