import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { inOwnNetwork } from "./namespace.ts";

/** Prints its answers as lines of JSON. */
const PROGRAM = `
  import { execFileSync } from "node:child_process";
  import { Bridge } from ${JSON.stringify(new URL("bridge.ts", import.meta.url).href)};
  const show = (...what) => JSON.parse(execFileSync("ip", ["-json", ...what]));
  const links = () => show("link").filter(({ ifname }) => ifname !== "lo").map(({ ifname, master }) => [ifname, master ?? ""].join("<")).sort();
  const said = (value) => console.log(JSON.stringify(value));
  const bridge = await Bridge.create("rack", "10.77.0.1/24");
  said(show("address", "show", "rack")[0].addr_info.filter(({ family }) => family === "inet").map(({ local, prefixlen }) => [local, prefixlen]));
  said([await bridge.plug("lab-1"), await bridge.plug("lab-1")]);
  said(links());
  said(await bridge.plug("a machine").catch(({ message }) => message));
  said(await Bridge.create("rack", "10.77.0.1/24").catch(({ code, message }) => code + " " + message));
  await bridge.remove();
  said(links());
`;

function command(...words: readonly [string, ...string[]]): [string, string[]] {
  const [program, ...given] = words;
  const { command, args } = inOwnNetwork(program, given, { root: false });
  return [command, args];
}

function lacking(): string | false {
  try {
    execFileSync(...command("ip", "tuntap", "add", "tap-x", "mode", "tap"), { stdio: "ignore" });
    return false;
  } catch {
    return "network namespaces with taps are not allowed here";
  }
}

test("a bridge has its address and a port for each machine, and leaves nothing when it is removed", {
  skip: lacking(),
}, async () => {
  const args = ["--input-type=module", "--eval", PROGRAM];
  const { stdout } = await promisify(execFile)(...command(process.execPath, ...args));
  const [address, plugged, there, badName, twice, left] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(address, [["10.77.0.1", 24]]);
  assert.deepEqual(plugged, ["tap-lab-1", "tap-lab-1"]);
  assert.deepEqual(there, ["rack-a<rack", "rack-b<", "rack<", "tap-lab-1<rack"]);
  assert.match(badName, /a name is at most 11/);
  assert.match(twice, /^Unavailable lab network: ip link add rack .*File exists/);
  assert.deepEqual(left, []);
});
