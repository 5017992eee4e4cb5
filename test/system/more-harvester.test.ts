/** The rest of what a user of Harvester pools is promised (H11, H16, H20, H27), seen from outside. */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { Fault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { ConfigMap } from "@slipway/kube/core";
import { Instance } from "../../src/kinds/harvester/instance.ts";
import { InstancePool } from "../../src/kinds/harvester/instance-pool.ts";
import { EXAMPLE_KEYS } from "../../src/laptop/metal.ts";
import { HarvesterWorld } from "./harvester-world.ts";
import { condition, using } from "./using.ts";
import { HOUR, MINUTE, SECOND } from "./world.ts";

/** Every version of every Instance from now on, with the moment it was written. */
async function history(world: HarvesterWorld): Promise<{ at: number; instance: Instance }[]> {
  const seen: { at: number; instance: Instance }[] = [];
  const { resourceVersion } = await world.whileTimePasses(world.client.list(Instance));
  const stream = await world.client.watch(Instance, { resourceVersion });
  void (async () => {
    for await (const { type, object } of stream)
      if (type === "ADDED" || type === "MODIFIED") seen.push({ at: world.clock.now(), instance: object as Instance });
  })();
  return seen;
}

test("H11 a device that still reads active after the reinstall action is not taken for installed, nor reinstalled again", () =>
  using({ equinix: { timings: { reinstallLagMs: 5 * MINUTE } } }, async (world) => {
    const seen = await history(world);
    await world.pool("rack", { installMode: "TwoPass" });
    await world.until("the second pass was sent", async () => (await world.instances())[0]?.status?.boot?.pass === 2);
    const id = (await world.instances())[0]!.status!.instanceID!;
    for (let stale = 0; stale < 4; stale++) {
      assert.equal(world.equinix.device(id)!.state, "active");
      const status = (await world.instances())[0]!.status!;
      assert.equal(status.status, "reinstalling");
      assert.equal(condition({ status }, "Installed")!.status, "False");
      await world.clock.run(MINUTE);
    }
    await world.until("ready", () => world.converged());

    assert.equal(world.equinix.counters().performAction, 1);
    for (const { instance } of seen) {
      const { status, install, node } = instance.status ?? {};
      if (status === "ready" || status === "managed")
        assert.ok(install?.succeeded ?? node?.uid, `${status} without a sign of the machine itself`);
    }
  }));

test("H16 what a machine says of itself, and its Node, are handled within a second", () =>
  using({}, async (world) => {
    const seen = await history(world);
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const first = (what: string, holds: (instance: Instance) => boolean): number => {
      const found = seen.find(({ instance }) => holds(instance));
      assert.ok(found, what);
      return found.at;
    };
    const signals: [what: string, said: (i: Instance) => boolean, handled: (i: Instance) => boolean][] = [
      [
        "STARTED",
        (i) => i.status?.install?.started != null,
        (i) => condition(i, "Installed")?.reason === "Installing" && i.status?.waitingFor === "the installer to finish",
      ],
      ["SUCCEEDED", (i) => i.status?.install?.succeeded != null, (i) => i.status?.status === "ready"],
      ["the Node", (i) => i.status?.node?.uid !== undefined, (i) => i.status?.status === "managed"],
    ];
    for (const [what, said, handled] of signals) {
      const took = first(`${what} handled`, handled) - first(`${what} said`, said);
      assert.ok(took >= 0 && took < SECOND, `${what} took ${took} ms`);
    }
    const [node] = await world.nodes();
    const joined = first("joined", (i) => i.status?.node?.joined != null);
    assert.ok(joined - Date.parse(node!.metadata.creationTimestamp!) < 2 * SECOND);
  }));

test("H16 a failed installation is reported and acted upon at once, long before any timeout", () => {
  let failures = 0;
  return using({ firmware: { installFails: () => (failures++ === 0 ? "no space" : undefined) } }, async (world) => {
    const seen = await history(world);
    await world.pool("rack", {});
    await world.until("ready", () => world.converged());
    const said = seen.find(({ instance }) => instance.status?.install?.failed != null)!;
    const handled = seen.find(({ instance }) => instance.status?.failure?.reason === "InstallFailed")!;
    assert.ok(handled.at - said.at < SECOND, `${handled.at - said.at} ms`);
    assert.equal(world.equinix.boughtEver().length, 2);
  });
});

const URLS = /https?:\/\/[^\s"'`)\\]+/g;

test("H20 a machine that is ordered without a word about sources boots from the operator and the project's releases, over HTTPS, checked", async () => {
  const world = await HarvesterWorld.create();
  try {
    const { boot } = await world.operator();
    await world.pool("plain", {});
    await world.pool("lax", { harvester: { insecureSkipTLSVerify: true } });
    await world.until("both are bought", () => world.equinix.devices().length === 2);
    for (const { scriptUrl, hostname } of world.equinix.devices()) {
      const url = new URL(scriptUrl);
      assert.equal(url.origin, "https://slipway.example");
      const request = { method: "GET", url: scriptUrl, headers: {}, remote: "198.51.100.1" } as const;
      const { body: script } = await world.whileTimePasses(boot(request));
      const from = new Set([...script.matchAll(URLS)].map(([found]) => new URL(found).origin));
      assert.deepEqual(from, new Set(["https://slipway.example", "https://releases.rancher.com"]));
      assert.equal(script.includes("rd.noverifyssl"), hostname.startsWith("lax"), hostname);
    }
  } finally {
    await world.close();
  }
});

test("H9 a machine that somebody switches off while it installs is switched on again, and replaced if its disk does not start", () =>
  using({}, async (world) => {
    await world.pool("rack", {});
    await world.until("it installs", () => world.equinix.devices()[0]?.stage === "installing");
    const { id } = world.equinix.devices()[0]!;
    await world.equinix.handle({
      method: "POST",
      url: `https://api.equinix.com/metal/v1/devices/${id}/actions`,
      headers: { "x-auth-token": EXAMPLE_KEYS.equinix.token, "content-type": "application/json" },
      body: JSON.stringify({ type: "power_off" }),
      remote: "192.0.2.1",
    });
    await world.until("it is off", () => world.equinix.device(id)?.state === "inactive", HOUR, SECOND);
    await world.until("it is on again", () => world.equinix.device(id)?.state === "active", 5 * MINUTE, SECOND);
    await world.until("ready", () => world.converged(), 6 * HOUR);
    await world.until("one machine is left", () => world.equinix.devices().length === 1);
  }));

/** Names that programs only compare with, never ask: reserved for that, loopback, or what Redfish and libvirt call their vocabularies. */
const NOT_ASKED =
  /\.(invalid|example|example\.org|test)(:|\/|$)|^http:\/\/(localhost|127\.0\.0\.1|\[?::1|docs\.oasis-open\.org\/odata\/|redfish\.dmtf\.org\/schemas\/|libvirt\.org\/schemas\/)/;
/** debian-installer's own default: what it fetches there is signed, and checked by apt. */
const SIGNED = "http://deb.debian.org/debian";

test("H20 no default URL of the product leads to plain HTTP or to an individual's repository", async () => {
  const files = (await readdir("src", { recursive: true })).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && !name.startsWith("sim/"),
  );
  assert.ok(files.length > 100);
  for (const name of files) {
    const text = await readFile(`src/${name}`, "utf8");
    for (const [url] of text.matchAll(/https?:\/\/[a-z0-9][a-z0-9.-]*\.[a-z]{2,}[^\s"'`)]*/g)) {
      assert.ok(url.startsWith("https://") || url === SIGNED || NOT_ASKED.test(url), `${name}: ${url}`);
      assert.doesNotMatch(url, /raw\.githubusercontent|ibrokethe|github\.io/, name);
    }
  }
});

test("H27 no pass changes an object in memory: with everything frozen that the API hands out, a pool lives through failed writes", () => {
  let writes = 0;
  const failed: string[] = [];
  return using(
    {
      transport: (inner) =>
        frozen(inner, (path) => {
          // Every third write of a status is lost before it is sent.
          if (!path.endsWith("/status") || ++writes % 3 !== 0) return false;
          failed.push(path);
          return true;
        }),
    },
    async (world) => {
      await world.pool("rack", { count: 3, installMode: "TwoPass", nodeCleanupWaitInterval: "5m" });
      await world.until("ready", () => world.converged());
      world.equinix.kill((await world.instances())[0]!.status!.instanceID!);
      await world.until("its death is noticed", async () => !(await world.converged()));
      await world.until("ready again", () => world.converged());
      const size = (count: number) => ({ type: "merge", body: { spec: { count } } }) as const;
      await world.client.patch(InstancePool, { name: "rack" }, size(1));
      await world.until("one is left", async () => (await world.instances()).length === 1 && (await world.converged()));
      assert.equal(world.equinix.boughtEver().length, 4);
      const pool = (await world.pools())[0]!;
      assert.deepEqual([pool.status!.ready, pool.status!.requested, pool.status!.needed], [1, 1, 0]);
      await world.client.delete(InstancePool, { name: "rack" });
      await world.until("nothing is left", () => world.equinix.devices().length === 0, HOUR);
      await world.until("no object either", async () => (await world.instances()).length === 0);

      assert.ok(failed.length > 10, `${failed.length} writes failed`);
      const mutations = world.logged.filter((line) =>
        /read only property|not extensible|Cannot (delete|assign)/.test(line),
      );
      assert.deepEqual(mutations, []);
      assert.ok((await world.client.list(ConfigMap)).items.length > 0);
    },
  );
});

/** A transport whose answers can't be changed, and which loses the writes that `lost` says. */
function frozen(inner: Transport, lost: (path: string) => boolean): Transport {
  return {
    async request(request) {
      if (request.method !== "GET" && lost(request.path))
        throw new Fault("Unavailable", "kubernetes API", "connection refused");
      return deepFreeze(structuredClone(await inner.request(request)));
    },
    async watch(request) {
      const answer = await inner.watch(request);
      if (!(Symbol.asyncIterator in answer)) return deepFreeze(structuredClone(answer));
      return (async function* () {
        for await (const event of answer) yield deepFreeze(structuredClone(event));
      })();
    },
    close: () => inner.close(),
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}
