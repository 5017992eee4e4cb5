/** An installer's files and reports over a real server, by the commands that installers run. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { reportCommand } from "../../bootstrap/installation/shell.ts";
import { memoryFiles } from "../files/memory.ts";
import { inventoryOf, machinesAt, someHosts } from "../hosts/testing.ts";
import { Capabilities } from "./boot-capability.ts";
import { hostOf } from "./host-of.ts";
import { INSTALL_PATH, Installers, type InstallUrls } from "./installers.ts";
import { netbootHttp } from "./server.ts";

const MAC = "52:54:00:00:00:01";
const run = promisify(execFile);

async function served(t: TestContext) {
  const clock = new VirtualClock();
  const hosts = someHosts(clock);
  hosts.register(inventoryOf(MAC), MAC);
  hosts.approve(MAC);
  const capabilities = new Capabilities(new Uint8Array(32), clock);
  const common = { hosts, capabilities, presences: machinesAt({ "127.0.0.1": MAC }), clock };
  let installers: Installers | undefined;
  const paths: string[] = [];
  const server = await netbootHttp({
    files: memoryFiles({}),
    handlers: { [INSTALL_PATH]: (request) => installers!.handler(request) },
    hostOf: hostOf({ hosts, capabilities }),
    host: "127.0.0.1",
    port: 0,
    onAnswered: ({ path }) => void paths.push(path),
  });
  installers = new Installers({ ...common, url: server.url });
  t.after(async () => {
    await server.close();
    installers.close();
    hosts.close();
  });
  let urls: InstallUrls | undefined;
  installers.give(MAC, "one", (made) => {
    urls = made;
    return {
      start: { is: "kernel", kernel: "http://web/linux", initrd: "http://web/initrd", commandLine: [] },
      files: { "user-data": "#cloud-config\n" },
      reports: true,
    };
  });
  return { hosts, urls: urls! };
}

test("files are fetched and the end is reported by what installers run, curl or wget", async (t) => {
  const { hosts, urls } = await served(t);
  const file = await fetch(`${urls.folder}user-data`);
  assert.deepEqual([file.status, await file.text()], [200, "#cloud-config\n"]);
  assert.equal((await fetch(`${urls.folder}vendor-data`)).status, 404);
  await run("sh", ["-c", reportCommand(urls.succeeded)]);
  assert.deepEqual(hosts.get(MAC)?.install?.result, { ok: true, message: "the installer reports that it has ended" });
  await run("sh", ["-c", reportCommand(urls.succeeded)]);
});

test("a webhook's body is read where its capability is right, and refused unread where it is not", async (t) => {
  const { hosts, urls } = await served(t);
  const post = (url: string) => fetch(url, { method: "POST", body: "no disk left" });
  assert.equal((await post(urls.failed.replace("slc_", "slc_x"))).status, 401);
  assert.equal(hosts.get(MAC)?.install?.result, undefined);
  assert.equal((await post(urls.failed)).status, 204);
  assert.match(hosts.get(MAC)?.install?.result?.message ?? "", /has failed: no disk left/);
});
