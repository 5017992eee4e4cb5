/** plunder's API over TLS, on hosts of this process, for tests. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { quietLog as log, cryptoRandom as random, systemClock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { inventoryOf, someHosts } from "../../netboot/hosts/testing.ts";
import { Capabilities } from "../../netboot/http/boot-capability.ts";
import { Installers } from "../../netboot/http/installers.ts";
import { HostLogs } from "../../netboot/logs/host-logs.ts";
import type { UserOrder } from "../../netboot/protocol/order.ts";
import { netbootIdentity } from "../../netboot/service/identity.ts";
import { serveRemoteApi } from "../../netboot/service/remote-api.ts";
import { netbootSettings } from "../../netboot/settings.ts";
import { openPlunderApi } from "./open.ts";

export interface Asking {
  method?: string;
  body?: unknown;
  /** Another certificate; null: none. */
  client?: { key: string | Buffer; cert: string | Buffer } | null;
}

export interface Answered {
  status: number;
  body: Record<string, unknown> & {
    payload?: unknown;
    error?: string;
    warning?: string;
    friendlyError?: string;
    success?: string;
  };
}

/** Starts it; it ends with the test. `clock`: of hosts and deployments. */
export async function plunderWorld(t: TestContext, { deploys = true, hasDhcp = true, dir = "", hostsFile = "" } = {}) {
  // Certificates are held against the machine's clock.
  const clock = new VirtualClock(systemClock.now());
  const folder = dir === "" ? mkdtempSync(join(tmpdir(), "slipway-plunder-")) : dir;
  const identity = await netbootIdentity(join(folder, "pki"), "127.0.0.1", { clock: systemClock, random });
  const hosts = someHosts(clock, hostsFile === "" ? {} : { file: hostsFile });
  const capabilities = new Capabilities(identity.key, clock);
  const presences = { of: (address: string) => ({ is: "refused" as const, address, because: "a test", unleased: {} }) };
  const url = "http://192.0.2.1:8080";
  const installers = new Installers({ hosts, capabilities, presences, clock, url });
  const order = async (host: string, wanted: UserOrder, id?: string): Promise<string> =>
    hosts.give(host, wanted.order === "write" ? { order: "reboot" } : (wanted as { order: "reboot" }), id).id;
  const dhcp = hasDhcp ? { leases: () => [{ mac: "52:54:00:00:00:01", at: 1_700_000_000_000 }] } : undefined;
  const settings = netbootSettings(
    { dhcp: { mode: "off" }, api: { port: 1, plunder: true }, interface: "eth1" },
    "test",
  );
  const more = await openPlunderApi(
    {
      ...{
        settings,
        hosts,
        installers,
        order,
        dhcp,
        url,
        address: "127.0.0.1",
        dir: folder,
        hasCluster: false,
        random,
        log,
      },
      identity: () => identity,
      clock,
    },
    { deploys },
  );
  const logs = new HostLogs({ hosts });
  const server = await serveRemoteApi(
    { host: "127.0.0.1", port: 0, identity, dhcp, more, log },
    { hosts, logs, order },
  );
  // A handshake for each request would take most of a test's time.
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    agent.destroy();
    await server.close();
    await more.close();
    installers.close();
    hosts.close();
    if (dir === "") rmSync(folder, { recursive: true });
  };
  t.after(close);
  const own = {
    key: readFileSync(join(folder, "pki", "client-key.pem")),
    cert: readFileSync(join(folder, "pki", "client.pem")),
  };
  const ask = (path: string, { method = "GET", body, client = own }: Asking = {}): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const asked = request(
        `${server.url}${path}`,
        { ca: identity.authority, method, agent: client === own ? agent : false, ...client },
        async (answer) => {
          let text = "";
          for await (const chunk of answer) text += chunk;
          let read: unknown;
          try {
            read = JSON.parse(text);
          } catch {
            read = { text };
          }
          resolve({ status: answer.statusCode!, body: read as Answered["body"] });
        },
      );
      asked
        .once("error", reject)
        .end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
    });
  /** On the owner's socket. */
  const local = async (path: string, method: "GET" | "POST" | "DELETE" = "GET", body?: object) => {
    const { status, body: text } = await more.local({
      method,
      url: `http://localhost${path}`,
      remote: "",
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status, body: JSON.parse(text) as Record<string, unknown> };
  };
  return { ask, local, hosts, installers, clock, server, identity, folder, close, more };
}

/** A machine whose agent has registered and waits. */
export function registered(hosts: ReturnType<typeof someHosts>, mac: string): string {
  const { host } = hosts.register(inventoryOf(mac), mac, { address: "127.0.0.9", proof: "lease" });
  return host;
}

/** A boot configuration and a deployment as plunder's users have them. */
export const PRESEED = {
  configName: "preseed",
  configType: "preseed",
  kernelPath: "ubuntu/linux",
  initrdPath: "ubuntu/initrd.gz",
  cmdline: "DEBCONF_DEBUG=5",
};
export const GLOBAL = {
  gateway: "192.168.1.1",
  subnet: "255.255.255.0",
  nameserver: "192.168.1.1",
  username: "ubuntu",
  password: "geheim",
  repoaddress: "deb.example.org",
  mirrordir: "/ubuntu",
  packages: "openssh-server curl",
  lvmEnabled: false,
  swapDisabled: false,
};
