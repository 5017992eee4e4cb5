/** For tests of machines and their network: programs in QEMU's place, and a network of their own with bridges and taps. */
import { execFile, execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { inOwnNetwork } from "./namespace.ts";

/** What takes longer hangs. */
const PATIENCE_MS = 60_000;

/** Why no test can have one; false: each can. */
export function noNetwork(): string | false {
  try {
    const { command, args } = inOwnNetwork("ip", ["tuntap", "add", "tap-x", "mode", "tap"], { root: false });
    execFileSync(command, args, { stdio: "ignore" });
    return false;
  } catch {
    return "network namespaces with taps are not allowed here";
  }
}

/**
 * Runs a program for Node in a network of its own, and gives what it said, in order: it calls `said(value)` with what JSON can hold, and `links()` for
 * the interfaces that there are and their bridges (`tap-1<rack`). Rejects when it ends badly.
 */
export async function runInNetwork(program: string): Promise<unknown[]> {
  const { command, args } = inOwnNetwork(process.execPath, ["--input-type=module", "--eval", `${PRELUDE}${program}`], {
    root: false,
  });
  const { stdout } = await promisify(execFile)(command, args, { timeout: PATIENCE_MS, killSignal: "SIGKILL" });
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

const PRELUDE = `
  import { execFileSync } from "node:child_process";
  const said = (value) => console.log(JSON.stringify(value));
  const show = (...what) => JSON.parse(execFileSync("ip", ["-json", ...what]));
  const links = () => show("link").filter(({ ifname }) => ifname !== "lo").map(({ ifname, master }) => [ifname, master ?? ""].join("<")).sort();
`;

/** Says on the serial line which machine it is, and what it is ordered, with what. It resets as QEMU does. */
export const QEMU = `
const orders = new (require("node:net").Socket)({ fd: 3 });
orders.write('{"QMP":{}}\\n');
orders.on("data", (text) => {
  for (const line of String(text).trim().split("\\n")) {
    const { execute, arguments: given } = JSON.parse(line);
    process.stdout.write("ordered " + execute + (given ? " " + JSON.stringify(given) : "") + "\\n");
    orders.write((execute === "system_reset" ? '{"event":"RESET"}\\n' : "") + '{"return":{}}\\n');
  }
});
process.stdout.write("up: " + process.argv[process.argv.indexOf("-name") + 1] + "\\n");`;

/** Puts a program for Node into the folder in QEMU's place: it is found where the folder is the first of PATH. */
export function putQemu(folder: string, program: string): void {
  const [file, qemu] = [join(folder, "program.cjs"), join(folder, "qemu-system-x86_64")];
  writeFileSync(file, program);
  writeFileSync(qemu, `#!/bin/sh\nexec '${process.execPath}' '${file}' "$@"\n`);
  chmodSync(qemu, 0o755);
}
