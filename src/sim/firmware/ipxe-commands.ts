import { download, shownUrl } from "./ipxe-download.ts";
import { options } from "./ipxe-line.ts";
import type { IpxeEnd, IpxeMachine } from "./ipxe-machine.ts";

/** A downloaded image; `script` is set when it is one. */
export interface Image {
  name: string;
  url: string;
  args: string;
  script?: string;
}

/** The state a script's commands share. `images` lasts over chained scripts. */
export interface ScriptRun {
  readonly machine: IpxeMachine;
  readonly images: Map<string, Image>;
  /** Name of the image that `boot` and `imgargs` mean. */
  selected: string | undefined;
  /** URL that relative ones start from: the running script's own. */
  readonly base: string;
  readonly budget: { left: number };
  readonly depth: number;
}

export type CommandResult =
  | { is: "ok" }
  | { is: "failed"; message: string }
  /** Time has passed: the script is not running away. */
  | { is: "paused" }
  | { is: "goto"; label: string }
  | { is: "exit"; succeeded: boolean }
  | { is: "execute"; image: Image; autofree: boolean }
  | { is: "replace"; image: Image }
  | { is: "end"; end: IpxeEnd };

type Command = (args: readonly string[], run: ScriptRun) => CommandResult | Promise<CommandResult>;

/** A setting that doubles itself in a loop would fill the memory. */
const MAX_SETTING = 16_384;
/** Less than this is no pause: a script that sleeps for nothing in a loop runs away all the same. */
const SHORTEST_PAUSE_S = 1;

const OK: CommandResult = { is: "ok" };
/** What a command ends with that fails; the message is the one that iPXE prints. */
export const FAILED = (message: string): CommandResult => ({ is: "failed", message });
const usage = (command: string, text: string): CommandResult => FAILED(`Usage: ${command} ${text}`);
const end = (is: "shell" | "reboot" | "poweroff" | "disk"): CommandResult => ({ is: "end", end: { is } });
const ignored: Command = () => OK;

const dhcp: Command = (_, { machine }) =>
  machine.dhcp ? OK : FAILED("Configuring net0... No configuration methods succeeded");

const fetchImage = async (args: readonly string[], run: ScriptRun): Promise<Image | string> => {
  const { given, rest, unknown } = options(args, {
    flags: ["replace", "autofree"],
    values: ["name", "timeout"],
  });
  if (unknown !== undefined) return `Unrecognised option "${unknown}"`;
  const [target, ...cmdline] = rest;
  if (target === undefined) return "no URI given";
  const kept = run.images.get(target);
  if (kept !== undefined) return cmdline.length > 0 ? withArgs(kept, cmdline) : kept;
  const url = URL.parse(target, run.base)?.href;
  if (url === undefined) return `${target}: Invalid argument`;
  const got = await download(url, run.machine);
  if (got.is === "error") return got.message;
  const name = given.name ?? decodeURIComponent(new URL(url).pathname.split("/").at(-1) ?? "");
  const image: Image = { name, url, args: cmdline.join(" ") };
  return got.is === "script" ? { ...image, script: got.text } : image;
};

const withArgs = (image: Image, args: readonly string[]): Image => ({ ...image, args: args.join(" ") });

/** Downloads an image, keeps it, and for `kernel` selects it. */
const load =
  (command: string, select: boolean): Command =>
  async (args, run) => {
    const image = await fetchImage(args, run);
    if (typeof image === "string") return FAILED(`${command}: ${image}`);
    run.images.set(image.name, image);
    if (select) run.selected = image.name;
    return OK;
  };

const chain: Command = async (args, run) => {
  const image = await fetchImage(args, run);
  if (typeof image === "string") return FAILED(`chain: ${image}`);
  const { given } = options(args, { flags: ["replace", "autofree"], values: ["name", "timeout"] });
  if (given.replace !== undefined) return { is: "replace", image };
  // Kept until it ends, so that its own initrds stand beside it.
  if (given.autofree === undefined) run.images.set(image.name, image);
  return { is: "execute", image, autofree: given.autofree !== undefined };
};

const boot: Command = (args, run) => {
  const { rest } = options(args, { flags: ["replace", "autofree"] });
  if (rest[0] !== undefined && !run.images.has(rest[0])) return chain(args, run);
  const image = run.images.get(rest[0] ?? run.selected ?? "");
  if (image === undefined) return FAILED("Could not boot: Exec format error: no kernel is selected");
  return { is: "execute", image: rest.length > 1 ? withArgs(image, rest.slice(1)) : image, autofree: false };
};

const set: Command = ([name, ...value], { machine }) => {
  if (name === undefined) return usage("set", "<setting> [<value>...]");
  const text = value.join(" ");
  if (text.length > MAX_SETTING) return FAILED(`Could not set "${name}": Out of memory`);
  machine.settings.set(name.replace(/:\w+$/, ""), value.length === 0 ? undefined : text);
  return OK;
};

const sleep: Command = async ([seconds = ""], { machine }) => {
  if (!/^\d+$/.test(seconds)) return usage("sleep", "<length>");
  if (Number(seconds) < SHORTEST_PAUSE_S) return OK;
  await machine.clock.sleep(Number(seconds) * 1000, machine.signal);
  return { is: "paused" };
};

/** Nobody presses a key: a prompt with a time limit runs out and fails, one without waits for ever, as a shell does. */
const prompt: Command = async (args, { machine }) => {
  const { given } = options(args, { values: ["key", "timeout"] });
  if (given.timeout === undefined) return end("shell");
  if (!/^\d+$/.test(given.timeout)) return usage("prompt", "[--key <key>] [--timeout <ms>] [<text>]");
  await machine.clock.sleep(Number(given.timeout), machine.signal);
  return FAILED("prompt: Connection timed out: no key was pressed");
};

const inc: Command = ([name, by = "1"], { machine }) => {
  if (name === undefined) return usage("inc", "<setting> [<increment>]");
  machine.settings.set(name, String(Number(machine.settings.get(name) ?? "0") + Number(by)));
  return OK;
};

const imgargs: Command = ([name, ...args], run) => {
  const image = name === undefined ? undefined : run.images.get(name);
  if (image === undefined) return FAILED(`imgargs: ${name ?? ""}: No such image`);
  run.images.set(image.name, withArgs(image, args));
  return OK;
};

const imgfree: Command = ([name], run) => {
  if (name === undefined) run.images.clear();
  else if (!run.images.delete(name)) return FAILED(`imgfree: ${name}: No such image`);
  return OK;
};

const imgselect: Command = async (args, run) => {
  const [name] = args;
  if (name === undefined || !run.images.has(name)) return load("imgselect", true)(args, run);
  run.selected = name;
  return OK;
};

/** iPXE's commands, by name (ipxe.org/cmd). One that is missing here fails as an unknown command does. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  dhcp,
  ifconf: dhcp,
  ifopen: ignored,
  ifclose: ignored,
  ifstat: ignored,
  iflinkwait: dhcp,
  route: ignored,
  console: ignored,
  colour: ignored,
  cpair: ignored,
  ntp: ignored,
  imgtrust: ignored,
  cpuid: (args) => (args.includes("--ext") ? OK : FAILED("cpuid: Operation not supported")),
  set,
  clear: ([name], run) => (name === undefined ? usage("clear", "<setting>") : set([name], run)),
  inc,
  isset: ([value = ""]) => (value === "" ? FAILED("isset: not set") : OK),
  iseq: (args) => {
    if (args.length !== 2) return usage("iseq", "<value1> <value2>");
    return args[0] === args[1] ? OK : FAILED("iseq: not equal");
  },
  echo: (args, { machine }) => {
    machine.say?.(args.filter((a) => a !== "-n").join(" "));
    return OK;
  },
  show: ([name = ""], { machine }) =>
    machine.settings.get(name) === undefined ? FAILED(`show: ${name} not found`) : OK,
  sleep,
  prompt,
  goto: ([label]) => (label === undefined ? usage("goto", "<label>") : { is: "goto", label }),
  exit: ([code = "0"]) => ({ is: "exit", succeeded: Number(code) === 0 }),
  shell: () => end("shell"),
  reboot: () => end("reboot"),
  poweroff: () => end("poweroff"),
  sanboot: () => end("disk"),
  chain,
  imgexec: chain,
  boot,
  kernel: load("kernel", true),
  imgload: load("kernel", true),
  imgselect,
  initrd: load("initrd", false),
  imgfetch: load("imgfetch", false),
  module: load("initrd", false),
  imgargs,
  imgfree,
  imgstat: (_, run) => {
    for (const image of run.images.values()) run.machine.say?.(`${image.name}: ${shownUrl(image.url)}`);
    return OK;
  },
};
