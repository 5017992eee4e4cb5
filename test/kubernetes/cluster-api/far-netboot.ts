/** A netboot outside of the cluster as `slipway netboot --plunder-api` serves it, over TLS on loopback, with a simulated rack of its own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock as clock, quietLog as log, cryptoRandom as random } from "@slipway/base";
import { HostLogs } from "../../../src/netboot/logs/host-logs.ts";
import { netbootIdentity } from "../../../src/netboot/service/identity.ts";
import { serveRemoteApi } from "../../../src/netboot/service/remote-api.ts";
import { netbootSettings } from "../../../src/netboot/settings.ts";
import { openPlunderApi } from "../../../src/plunder/api/open.ts";
import { clientFileText, readClientFile } from "../../../src/plunder/client/client-file.ts";
import type { Firmware } from "../../../src/sim/hardware.ts";
import { quicker } from "../../../src/sim/pace.ts";
import { Provisioning } from "../../../src/sim/rack/provisioning.ts";
import { SimRack } from "../../../src/sim/rack/rack.ts";
import { USUAL_TIMINGS } from "../../../src/sim/rack/server-parts.ts";
import { until } from "../live.ts";

const LOOPBACK = "127.0.0.1";
const MACHINES = 3;
const IMAGES = "http://images.example";
const PRESEED = {
  ...{ configName: "preseed", configType: "preseed" },
  ...{ kernelPath: `${IMAGES}/linux`, initrdPath: `${IMAGES}/initrd.gz` },
};

export interface FarNetboot {
  /** What Secret `plunder` holds. */
  clientFile: string;
  rack: SimRack;
  /** Who has machines, by the claims' objects. */
  holders(): Promise<string[]>;
  /** People restart what was given back and still runs its system. */
  restartReleased(): Promise<void>;
}

/** Resolves once all of its machines wait. It ends with the test. */
export async function farNetboot(
  t: TestContext,
  { firmware, speed }: { firmware: Firmware; speed: number },
): Promise<FarNetboot> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-far-netboot-"));
  const rack = new SimRack({ clock, random, log, firmware, timings: quicker(USUAL_TIMINGS, speed) });
  const provisioning = new Provisioning({ clock, random, trust: "first-seen", hasCluster: false }, rack.network);
  rack.network.serving = provisioning;
  for (let number = 1; number <= MACHINES; number++) rack.add(`far-${number}`);
  const { hosts, installers, order, url } = provisioning.asNetboot();
  const identity = await netbootIdentity(join(dir, "pki"), LOOPBACK, { clock, random });
  const settings = netbootSettings(
    { dhcp: { mode: "off" }, api: { port: 1, plunder: true }, interface: "eth1" },
    "test",
  );
  const more = await openPlunderApi(
    {
      ...{ settings, hosts, installers, order, url, dir, clock, random, log },
      ...{ dhcp: undefined, address: LOOPBACK, hasCluster: false, identity: () => identity },
    },
    { deploys: true },
  );
  const server = await serveRemoteApi(
    { host: LOOPBACK, port: 0, identity, dhcp: undefined, more, log },
    { hosts, logs: new HostLogs({ hosts }), order },
  );
  t.after(async () => {
    await server.close();
    await more.close();
    await rack.close();
    await rm(dir, { recursive: true, force: true });
  });
  const local = async (path: string, method: "GET" | "POST" | "PATCH" = "GET", body?: object): Promise<unknown> => {
    const request = { method, url: `http://localhost/v1/plunder${path}`, headers: {}, remote: "" };
    const answer = await more.local({ ...request, ...(body && { body: JSON.stringify(body) }) });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`);
    return JSON.parse(String(answer.body));
  };
  await local("/config/boot/preseed", "POST", PRESEED);
  await local("/deployment/global", "PATCH", { username: "ops" });
  const { file } = (await local("/clients", "POST", { name: "operator" })) as { file: string };
  for (const machine of rack.servers.values()) machine.on();
  const waiting = async () => ((await local("/waiting")) as { machines: object[] }).machines;
  await until("all machines of the netboot wait", async () => (await waiting()).length === MACHINES, 60_000);
  const machines = async () =>
    ((await local("/machines")) as { machines: { holder: string; mac: string; state: string }[] }).machines;
  return {
    clientFile: clientFileText({ ...readClientFile(file, "file"), port: Number(new URL(server.url).port) }),
    rack,
    holders: async () => (await machines()).map(({ holder }) => holder).toSorted(),
    async restartReleased() {
      const released = (await machines()).filter(({ state }) => state === "releasing").map(({ mac }) => mac);
      for (const machine of rack.servers.values())
        if (released.includes(machine.mac) && machine.running?.is === "system") machine.restart();
    },
  };
}
