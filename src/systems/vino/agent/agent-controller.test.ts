/** When the node agents run, and as what. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Context, KubeObject, Resource } from "@slipway/kube";
import type { DaemonSet } from "../objects.ts";
import { vinoAgentController } from "./agent-controller.ts";
import { agentsOf, daemonSet } from "./daemon-set.ts";

const OF = {
  ...{ account: { namespace: "slipway-system", name: "vino-agent" }, image: "agent:1" as string | undefined },
  ...{ libvirtImage: undefined as string | undefined, arguments: ["--a"] },
};
const rendered = (more: Partial<typeof OF> = {}) =>
  daemonSet({ ...OF, image: "agent:1", ...more } as never).spec.template.spec;

test("an agent runs on nodes that are marked for it, whatever their taints, with all that libvirt has mounted", () => {
  const pod = rendered();
  assert.deepEqual(pod.nodeSelector, { "slipway.dev/vino-agent": "true" });
  assert.deepEqual(
    [pod.serviceAccountName, pod.hostNetwork, pod.tolerations],
    ["vino-agent", true, [{ operator: "Exists" }]],
  );
  const paths = new Map(pod.volumes.map(({ name, hostPath }) => [name, hostPath.path]));
  for (const { volumeMounts, securityContext } of rendered({ libvirtImage: "libvirt:1" }).containers) {
    assert.deepEqual(new Map(volumeMounts.map(({ name, mountPath }) => [name, mountPath])), paths);
    assert.deepEqual(securityContext, { privileged: true, runAsUser: 0 });
  }
  // Devices are there, or the node has none; folders of libvirt may be made.
  const types = Object.fromEntries(pod.volumes.map(({ hostPath: { path, type } }) => [path, type]));
  assert.deepEqual(types, {
    ...{ "/dev": "Directory", "/sys": "Directory", "/var/run/libvirt": "DirectoryOrCreate" },
    ...{ "/var/lib/libvirt": "DirectoryOrCreate", "/var/lib/slipway/vino": "DirectoryOrCreate" },
  });
});

test("libvirt runs beside the agent where its image is named, else the nodes run it", () => {
  const images = (more: object) => rendered(more).containers.map(({ name, image }) => `${name} ${image}`);
  assert.deepEqual(images({}), ["agent agent:1"]);
  assert.deepEqual(images({ libvirtImage: "libvirt:1" }), ["agent agent:1", "libvirt libvirt:1"]);
});

const found = (status: object | undefined, generation = 2): DaemonSet =>
  ({ metadata: { name: "d", generation }, ...(status && { status }) }) as DaemonSet;
for (const [what, status, isReady, message] of [
  ["one that nobody looked at yet", undefined, false, "0 of 0 agents are ready"],
  ["one of no nodes", { observedGeneration: 2 }, false, "0 of 0 agents are ready"],
  [
    "all are ready",
    { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2 },
    true,
    "",
  ],
  [
    "one is not ready",
    { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 1 },
    ...[false, "1 of 2 agents are ready"],
  ],
  [
    "one is of an earlier version",
    { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberReady: 2 },
    ...[false, "2 of 2 agents are ready"],
  ],
  [
    "a status of an earlier specification",
    { observedGeneration: 1, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 2 },
    ...[false, "2 of 2 agents are ready"],
  ],
] as const)
  test(`agents run everywhere, or not: ${what}`, () => {
    assert.deepEqual(agentsOf(found(status)), { isReady, message });
  });

test("without a DaemonSet nothing is said of agents", () => {
  assert.equal(agentsOf(undefined), undefined);
});

/** One pass with these Vinos and VinoNodes; what is written. */
async function pass({
  counts = { Vino: 0, VinoNode: 0 } as Record<string, number>,
  live = undefined as DaemonSet | undefined,
  image = "agent:1",
  isInstalled = true,
}) {
  const written: { what: string; body?: KubeObject }[] = [];
  const client = {
    async patch({ kind }: Resource, _: object, { body }: { body: KubeObject }) {
      written.push({ what: `apply ${kind}`, body });
    },
    async delete({ kind }: Resource, _: object, { uid }: { uid: string }) {
      written.push({ what: `delete ${kind} ${uid}` });
    },
  };
  const cache = {
    get: () => live,
    list: ({ kind }: Resource) => Array.from({ length: counts[kind] ?? 0 }),
  };
  const controller = vinoAgentController({ ...OF, image: isInstalled ? image : undefined });
  await controller.reconcile({ name: "slipway-vino-agent" }, { client, cache } as unknown as Context);
  return written;
}

test("agents are there while there is a Vino, or a VinoNode that is left of one, and are written once", async () => {
  assert.deepEqual(await pass({}), []);
  for (const kind of ["Vino", "VinoNode"]) {
    const written = await pass({ counts: { [kind]: 1 } });
    const kinds = written.map(({ what }) => what);
    assert.deepEqual([kinds[0], kinds.at(-1)], ["apply ServiceAccount", "apply DaemonSet"]);
    assert.deepEqual(kinds.slice(1, -1).toSorted(), ["apply ClusterRole", "apply ClusterRoleBinding"]);
    const live = { ...written.at(-1)!.body!, metadata: { ...written.at(-1)!.body!.metadata, uid: "d-1" } } as DaemonSet;
    assert.deepEqual(await pass({ counts: { [kind]: 1 }, live }), []);
    assert.equal((await pass({ counts: { [kind]: 1 }, live, image: "agent:2" })).length, 4);
    assert.deepEqual(await pass({ live }), [{ what: "delete DaemonSet d-1" }]);
  }
});

test("agents that somebody else installed are not taken away, and without an image nothing is done", async () => {
  assert.deepEqual(await pass({ live: found({}) }), []);
  assert.deepEqual(await pass({ counts: { Vino: 1 }, isInstalled: false }), []);
});
