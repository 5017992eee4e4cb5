/** One action on one machine. */
import { Buffer } from "node:buffer";
import { basename } from "node:path";
import { Fault } from "@slipway/base";
import type { Ended } from "../ssh/child.ts";
import type { Shell } from "../ssh/shell.ts";
import { quoted } from "../ssh/wrapped.ts";
import type { Action } from "./action.ts";
import type { Here } from "./here.ts";
import type { Values } from "./values.ts";

export interface CarryOut {
  host: string;
  shell: Shell;
  here: Here;
  values: Values;
  signal: AbortSignal;
}

/** Of what is told of an action. */
const MOST_TOLD = 64 * 1024;
/** Of a failed command's errors. */
const MOST_ERRORS = 2_048;

/** Does it, and resolves with what it printed. Rejects with a `Fault` that says what failed. */
export async function carryOut(action: Action, at: CarryOut): Promise<string> {
  switch (action.do) {
    case "upload":
      return upload(action, at);
    case "download":
      return download(action, at);
    case "key":
      return key(action, at);
    case "command":
      return command(action, at);
  }
}

async function upload(
  { source, destination, sudo, timeoutMs }: Extract<Action, { do: "upload" | "download" }>,
  at: CarryOut,
): Promise<string> {
  const { bytes, size, mode } = await at.here.read(source);
  try {
    // A connection that breaks ends the input, too: only a whole file takes the place of what was there.
    const script = [
      `d=${quoted(destination)}; case $d in */) mkdir -p "$d";; esac`,
      `[ -d "$d" ] && d="$d/"${quoted(basename(source))}`,
      `t="$d.part-$$"; trap 'rm -f "$t"' EXIT; umask 077`,
      `cat >"$t" || exit 1`,
      `[ "$(wc -c <"$t")" -eq ${size} ] || { echo "the file came in part" >&2; exit 1; }`,
      `chmod ${mode.toString(8)} "$t" && mv -f "$t" "$d"`,
    ].join("\n");
    const ended = await at.shell.run(script, { ...as(sudo), input: bytes, timeoutMs, signal: at.signal });
    if (ended.code !== 0) throw failed(at.host, ended);
    return `${size} bytes`;
  } finally {
    bytes.destroy();
  }
}

async function download(
  { source, destination, sudo, timeoutMs }: Extract<Action, { do: "upload" | "download" }>,
  at: CarryOut,
): Promise<string> {
  const file = await at.here.write(destination);
  try {
    const ended = await at.shell.run(`exec cat ${quoted(source)}`, {
      ...as(sudo),
      output: file.sink,
      timeoutMs,
      signal: at.signal,
    });
    if (ended.code !== 0) throw failed(at.host, ended);
    await file.commit();
    return "whole";
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

async function key({ key: name, file }: Extract<Action, { do: "key" }>, { here, values }: CarryOut): Promise<string> {
  if (file === undefined) {
    values.get(name);
    return `${name} is there`;
  }
  const { bytes } = await here.read(file);
  values.set(name, await textOf(bytes, file));
  return `${name} is read`;
}

async function command(action: Extract<Action, { do: "command" }>, at: CarryOut): Promise<string> {
  const { here, values, shell, host, signal } = at;
  const { sudo, isLocal, timeoutMs, input, saveFile, saveAsKey } = action;
  const text = action.command.is === "text" ? action.command.text : values.get(action.command.key);
  const given = input && { input: await inputOf(input, { here, timeoutMs, signal }) };
  const how = { ...as(sudo), ...given, timeoutMs, signal };
  const ended = await (isLocal ? here.run(text, how) : shell.run(text, how));
  if (ended.code !== 0) throw failed(isLocal ? "this machine" : host, ended);
  if (ended.isCut && (saveFile ?? saveAsKey) !== undefined)
    throw new Fault("TooLarge", host, "it printed more than can be saved", {
      remedy: "write it to a file there, and download that",
    });
  if (saveAsKey !== undefined) values.set(saveAsKey, ended.output);
  if (saveFile !== undefined) {
    const file = await here.write(saveFile);
    try {
      await new Promise<void>((resolve, reject) => {
        file.sink.once("error", reject).end(ended.output, resolve);
      });
      await file.commit();
    } catch (error) {
      await file.abandon();
      throw error;
    }
  }
  // What is saved may be a secret: a token by which machines join.
  if (saveAsKey !== undefined) return `saved as ${saveAsKey}`;
  return ended.output.length > MOST_TOLD ? `${ended.output.slice(0, MOST_TOLD)}\n(there was more)` : ended.output;
}

async function inputOf(
  input: NonNullable<Extract<Action, { do: "command" }>["input"]>,
  { here, timeoutMs, signal }: Pick<CarryOut, "here" | "signal"> & { timeoutMs: number },
): Promise<AsyncIterable<Buffer>> {
  if (input.is === "file") return (await here.read(input.path)).bytes;
  const ended = await here.run(input.command, { timeoutMs, signal });
  if (ended.code !== 0) throw failed("commandPipeCmd on this machine", ended);
  if (ended.isCut)
    throw new Fault("TooLarge", "commandPipeCmd", "it printed more than can be piped", {
      remedy: "write it to a file, and name that in commandPipeFile",
    });
  return (async function* () {
    yield Buffer.from(ended.output);
  })();
}

/** Of a value that is kept. */
const MOST_VALUE = 1024 * 1024;

async function textOf(bytes: AsyncIterable<Buffer>, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > MOST_VALUE) throw new Fault("TooLarge", name, `a value has at most ${MOST_VALUE} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function as(sudo: string | undefined): { sudo?: string } {
  return sudo === undefined ? {} : { sudo };
}

function failed(on: string, { code, output, errors }: Ended): Fault {
  const said = (errors.trim() || output.trim()).slice(-MOST_ERRORS);
  return new Fault("Refused", on, `ended with ${code}${said === "" ? "" : `: ${said}`}`);
}
