import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault, isFault } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { completeSpec } from "../../kinds/kamaji/defaults.ts";
import type { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import { tenant as tenantWith } from "../../kinds/kamaji/testing.ts";
import type { Runtime } from "../../tenants/runtime.ts";
import { versionToRun } from "./tenant-version.ts";

const NEVER = () => assert.fail("its nodes are not looked at");

interface Case {
  wanted: string;
  installed?: string;
  isReady?: boolean;
  replicas?: number;
  /** Minors of which no release can be run. */
  without?: readonly string[];
  wayIn?: () => Transport;
  annotations?: Record<string, string>;
  signal?: AbortSignal;
}

async function chosen(of: Case) {
  const { wanted, installed, isReady = true, replicas = 1, without = [], wayIn = NEVER, annotations } = of;
  const plain = tenantWith({ kubernetes: { version: wanted }, controlPlane: { deployment: { replicas } } });
  const tenant = {
    ...plain,
    metadata: { ...plain.metadata, ...(annotations && { annotations }) },
    status: {
      ...(installed !== undefined && { kubernetesResources: { version: { version: installed, status: "Ready" } } }),
      conditions: [{ type: "Ready", status: isReady ? "True" : "False", reason: "x", message: "" }],
    },
  } as TenantControlPlane;
  const runtime = {
    releaseOf: async (minor: string) => (without.includes(minor) ? undefined : `${minor}.5`),
  } as unknown as Runtime;
  const { signal = new AbortController().signal } = of;
  return await versionToRun(runtime, { tenant, spec: completeSpec(tenant) }, { wayIn }, signal);
}

/** A way into a tenant with one node for each of these kubelets. */
function nodes(
  kubelets: readonly string[],
  { status = 200, closed = [] as string[], metrics = "" } = {},
): () => Transport {
  const items = kubelets.map((kubeletVersion, at) => ({
    metadata: { name: `n${at + 1}` },
    status: { nodeInfo: { kubeletVersion } },
  }));
  return () =>
    ({
      request: async ({ path }: { path: string }) => ({ status, body: path === "/metrics" ? metrics : { items } }),
      close: async () => void closed.push("closed"),
    }) as unknown as Transport;
}

test("B16 a new tenant and one that sleeps run the version that is wanted, whatever their nodes", async () => {
  assert.deepEqual(await chosen({ wanted: "v1.34.2" }), { version: "v1.34.2" });
  assert.deepEqual(await chosen({ wanted: "v1.34.2", installed: "v1.30.0", replicas: 0 }), { version: "v1.34.2" });
});

test("B16 a patch needs no look at the nodes; a minor goes by one at a time, when they allow it", async () => {
  assert.deepEqual(await chosen({ wanted: "v1.34.2", installed: "v1.34.1" }), { version: "v1.34.2" });
  const closed: string[] = [];
  const wayIn = nodes(["v1.32.0"], { closed });
  assert.deepEqual(await chosen({ wanted: "v1.35.0", installed: "v1.33.1", wayIn }), { version: "v1.34.5" });
  assert.deepEqual(closed, ["closed"]);
});

test("B16 a tenant that is not ready goes on without a look at its nodes", async () => {
  assert.deepEqual(await chosen({ wanted: "v1.34.2", installed: "v1.33.1", isReady: false }), { version: "v1.34.2" });
});

test("B16 each obstacle keeps the version that is installed, and says what it is and what to do", async () => {
  const obstacle = async (of: Case): Promise<Fault> => {
    const { version, obstacle: found } = await chosen(of);
    assert.equal(version, of.installed);
    assert.ok(found !== undefined);
    return found;
  };
  const down = await obstacle({ wanted: "v1.33.0", installed: "v1.34.0" });
  assert.equal(down.code, "Invalid");

  const missing = await obstacle({ wanted: "v1.35.0", installed: "v1.32.0", without: ["v1.34"] });
  assert.equal(missing.code, "MissingInput");
  assert.match(missing.message, /from v1.32.0 to v1.35.0 needs a release of v1.34,/);
  assert.match(missing.remedy!, /VERSIONS="1.34"/);

  const old = await obstacle({ wanted: "v1.34.0", installed: "v1.33.0", wayIn: nodes(["v1.30.9", "v1.33.0"]) });
  assert.equal(old.code, "Refused");
  assert.match(
    old.message,
    /it can't go up to v1.34.0: node n1 has kubelet v1.30.9, v1.34.0 works with v1.31 and later$/,
  );

  const silent = await obstacle({ wanted: "v1.34.0", installed: "v1.33.0", wayIn: nodes([], { status: 503 }) });
  assert.equal(silent.code, "Unavailable");
  assert.match(silent.message, /its nodes are looked at first: .*the answer was 503/);
});

test("B16 of many nodes that are too old five are named, and how many there are", async () => {
  const wayIn = (count: number) => nodes(Array.from({ length: count }, () => "v1.20.0"));
  const messageOf = async (count: number): Promise<string> =>
    (await chosen({ wanted: "v1.34.0", installed: "v1.33.0", wayIn: wayIn(count) })).obstacle!.message;
  const six = await messageOf(6);
  assert.match(six, /n5 has/);
  assert.doesNotMatch(six, /n6/);
  assert.match(six, /\(6 in all\)$/);
  assert.doesNotMatch(await messageOf(5), /in all/);
});

test("a look at the nodes that is given up is no obstacle", async () => {
  const giving = new AbortController();
  const reason = new Fault("Timeout", "test", "given up");
  giving.abort(reason);
  const wayIn = () => {
    throw reason;
  };
  await assert.rejects(chosen({ wanted: "v1.34.0", installed: "v1.33.0", wayIn, signal: giving.signal }), (error) =>
    isFault(error, "Timeout"),
  );
});

test("B16 what clients still use and the wanted version no longer has is an obstacle, until it is accepted for that version", async () => {
  const metrics =
    'apiserver_requested_deprecated_apis{group="flow",removed_release="1.35",resource="schemas",subresource="",version="v1beta3"} 1';
  const way = { wanted: "v1.35.0", installed: "v1.33.0", wayIn: nodes(["v1.33.0"], { metrics }) };
  const { version, obstacle } = await chosen(way);
  assert.deepEqual([version, obstacle?.code], ["v1.33.0", "Refused"], "all the way, not the next minor alone");
  assert.match(obstacle!.message, /have used what v1.35.0 no longer has: flow\/v1beta3 schemas \(gone in 1.35\)$/);
  const accepted = { "slipway.dev/without-removed-apis": "v1.35.0" };
  assert.deepEqual(await chosen({ ...way, annotations: accepted }), { version: "v1.34.5" });
  const another = { "slipway.dev/without-removed-apis": "v1.34.0" };
  assert.equal((await chosen({ ...way, annotations: another })).obstacle?.code, "Refused");
  assert.deepEqual(await chosen({ ...way, wanted: "v1.34.0" }), { version: "v1.34.0" });
});
