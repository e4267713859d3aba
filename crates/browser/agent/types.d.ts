// The types that several modules of the page agent share. Only `tsc` reads this file.

/** What argiope tells the agent once per document: `AgentSettings` in src/agent.rs. */
interface AgentSettings {
  secret: string;
  key: string;
  origin: string;
  included: string[];
  excluded: string[];
  site: string;
  /** Null where chance is real. */
  seed: number | null;
  /** Whether cryptographic numbers differ from those of the crawl. */
  probing: boolean;
  horizon: number;
  cap: number;
  freeze: number | null;
  ignore: string;
  /** A selector of elements that are left alone. */
  avoid: string;
  /** Phrases divided by `|`: a question with one of them is refused. */
  braked: string;
  /** Phrases divided by `|`: a question with one of them is not refused. */
  allowed: string;
  masks: Mask[];
  endless: string[];
  guarded: boolean;
  frames: boolean;
  inputs: GivenValues[];
  /** What every page shows while its session lasts; empty if none is known. */
  inside: string;
}

/** Values of the file of inputs, and the fields that they are for. */
interface GivenValues {
  selector: string | null;
  label: string | null;
  name: string | null;
  type: string | null;
  autocomplete: string | null;
  values: string[];
}

/** A region of the page that the raw hash leaves out. `what`: `text`, `tree` or an attribute. */
interface Mask {
  selector: string;
  what: string;
}

/** The parameters of the function around all modules. */
declare const settings: AgentSettings;
/** Every word of the modules, once. */
declare const words: string;

type PageWindow = Window & typeof globalThis;

/** Where a shadow tree or a document can be searched. */
type Tree = Element | Document | DocumentFragment;

/** A timer or an animation frame of the page, in virtual milliseconds. */
interface Timer {
  id: number;
  owner: PageWindow;
  document: Document;
  kind: "timeout" | "frame";
  callback: unknown;
  args: unknown[];
  due: number;
  /** 0 for a timer that fires once. */
  period: number;
  delay: number;
  /** How often the callback has armed itself again. */
  repeats: number;
  /** How many runs in a row have not changed the page. */
  idle: number;
  /** An interval that has run until the horizon: it does not end by itself. */
  endless: boolean;
}

interface VirtualClock {
  /** Virtual milliseconds since the document began. */
  at: number;
  /** The pauses between actions, in which no timer runs; also virtual milliseconds. */
  paused: number;
  next: number;
  timers: Map<number, Timer>;
  running: Timer | null;
}

/** What is under way and holds the page. */
interface PendingRequest {
  /** The address without its query, or the event that the browser has promised. */
  reason: string;
  /** When it began, in real milliseconds. */
  since: number;
  document: Document;
  /** The element that loads. */
  element?: Element;
  /** Later answers wait for its answer. */
  ordered?: boolean;
}

/** Answers that wait for earlier ones: see ordering.js. */
interface AnswerOrder {
  waiting: Map<number, () => void>;
  /** Addresses for which no answer waits any longer. */
  late: Set<string>;
}

/** A built-in function of the browser that the agent uses. */
interface WatchedBuiltin {
  name: string;
  owner: Record<string | symbol, unknown>;
  key: string | symbol;
  /** As it was before any script of the page. */
  descriptor: PropertyDescriptor;
  /** Whether hooks use it too. */
  inHooks: boolean;
  /** The page's own, while the agent works. */
  theirs: PropertyDescriptor | undefined;
}

/** What the page has replaced, in all of its documents. */
interface BuiltinGuard {
  realms: { document: Document; find(thorough: boolean, found: WatchedBuiltin[]): void }[];
  replaced: WatchedBuiltin[];
  /** Whether the agent works. */
  inside: boolean;
  /** When everything was last compared, in real milliseconds. */
  checkedAt: number;
  /** What may have deceived the agent. */
  tampered: Set<string>;
}

/** A request of the older kind, from its opening on. */
interface OpenRequest {
  /** Null if the script waits for the answer. */
  address: string | null;
  token: number;
  /** Its answer may be handed over. */
  isInTurn: boolean;
}

interface Traffic {
  pending: Map<number, PendingRequest>;
  /** How long each address was busy since the wait began, in real milliseconds. */
  spent: Map<string, number>;
  /** Addresses that kept a page busy until the deadline: they never hold a page again. */
  endless: Set<string>;
  next: number;
  /** How many requests have held the page so far. */
  requests: number;
  /** Ends the wait for a change, if there is one. */
  wake: (() => void) | null;
  /** Counts changes of the tree and messages between ports. */
  activity: number;
  /** Since when each worker owes an answer. */
  workers: Map<Worker, number>;
}

/** Sockets, event streams and long polls, in real milliseconds. */
interface Streams {
  open: Set<object>;
  /** Until when each may answer; `longest` holds for the whole step. */
  due: Map<object, { until: number; longest: number }>;
  /** The number of requests after which answers were last expected. */
  requests: number;
}

interface ListenerRecord {
  listener: unknown;
  capture: boolean;
}

/** What the hooks have recorded about the page. */
interface Hooked {
  targets: WeakMap<EventTarget, Map<string, ListenerRecord[]>>;
  /** Every type that anything has listened for: the agent sends no others. */
  types: Set<string>;
  /** Targets above the elements (window, document): no walk over the tree finds them. */
  roots: Set<EventTarget>;
  shadows: WeakMap<Element, ShadowRoot>;
  hasShadows: boolean;
  /** Whether an intersection or resize observer waits for a frame. */
  observes: boolean;
  intersects: boolean;
  /** Whether a script has started an animation. */
  animates: boolean;
}

/** What the agents of a document and of its frames share. */
interface SharedState {
  traffic: Traffic;
  order: AnswerOrder;
  guard: BuiltinGuard;
  streams: Streams;
  /** Documents that a script has written anew. */
  rewritten: WeakSet<Document>;
  /** An action may open a window, and has not done so. */
  mayOpen: boolean | undefined;
  /** The address to which the page would be refreshed. */
  refused: string | undefined;
  clock: VirtualClock;
  /** The actions since the document began, as one number: see chance.js. */
  path: { at: number; before: number; last: string; steps: number };
  hooked: Hooked;
  /** One for each document and each shadow root. */
  observers: MutationObserver[];
  /** What happened since the step began: kind, text, text. */
  notes: string[][];
  /** Observers of the page see their first frame only when one is painted. */
  paintFirst: boolean;
  /** The page waits for a frame, and this tab makes none. */
  unframed: boolean;
  /** The document is being left. */
  leaving: boolean;
  /** How often the agent has looked whether it is still here. */
  leavingPolls: number | undefined;
  /** The held navigations go on: no further one is held or counted as leaving. */
  released: boolean;
  /** The address of the link that leaves the document. */
  linked: string | null;
  /** The number of changes at which elements that need frames were last searched for. */
  checked: number | undefined;
  /** The number of dialogs, details and popovers that were open. */
  opened: number | undefined;
  /** The browser's own pointer is on the page. */
  pointed: boolean | undefined;
  /** The element under the agent's pointer. */
  hovered: Element | null | undefined;
  /** A document without a window: nothing in it loads or runs. */
  inert: Document | undefined;
}

/** One step of a path: `PathStep` in src/agent.rs. */
interface PathStep {
  kind: string;
  place: string;
  argument: string;
  /** What `{n}` stands for in this step. */
  number?: string;
  expect?: string;
  first?: boolean;
}

/** How a call ended: `RunAnswer` in src/agent.rs. */
interface RunResult {
  done: number;
  missing: boolean;
  raw: string;
  settled: boolean;
  notes: string[][];
  passed: string[][][];
  link: string | null;
  leaving: boolean;
  held: boolean;
  unframed: boolean;
  endless: string[];
  /** Built-in functions that the page has replaced: see intact.js. */
  tampered: string[];
  /** The page lacks what every page shows while its session lasts. */
  outside: boolean;
}

interface TreeNode {
  depth: number;
  tag: string;
  text: string;
  attributes: [string, string][];
  visible: boolean;
}

/** What `collectTree` gathers: the nodes, the elements among them, and their numbers. */
interface CollectedTree {
  nodes: TreeNode[];
  elements: Element[];
  numbers: Map<Element, number>;
  /** The length of all texts and attributes. */
  characters: number;
  /** Whether something was left out because the page is too large. */
  isCut: boolean;
}

/** Why a page does not let an action be performed: `Hindrance` in the crate `explore`. */
type Hindrance = "invisible" | "covered" | "disabled" | "out-of-scope";

/** An action that the page has and does not offer. */
interface Withheld {
  kind: string;
  node: number;
  argument: string;
  reason: Hindrance;
}

interface Offer {
  kind: string;
  node: number;
  onto: number | null;
  argument: string;
  place: string;
}

/** A kind of action and its argument. */
type Want = [kind: string, argument: string | number];
