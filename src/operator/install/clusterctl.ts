/**
 * Slipway's providers of Cluster API as `clusterctl init` installs them beside upstream's core: a local repository with the components of each, and a
 * configuration for clusterctl that names it. Each provider is an operator of its own that runs one system.
 */
import { join } from "node:path";
import { VERSION } from "@slipway/base";
import { dump } from "js-yaml";
import { crdOf } from "../../kinds/crd.ts";
import type { Kind } from "../../kinds/kind.ts";
import { MachineProvider } from "../../kinds/slipway/machine-provider.ts";
import type { System } from "../../systems/system.ts";
import { throughService } from "../conversion-server.ts";
import { systemsOf } from "../operator.ts";
import { operatorObjects, type RbacObject, systemInOperatorObjects } from "../rbac.ts";
import { LABELS } from "./naming.ts";
import { objectsByFile } from "./objects.ts";
import { evaluate } from "./tree.ts";
import { installValues } from "./values.ts";

interface Provider {
  name: string;
  type: "InfrastructureProvider" | "ControlPlaneProvider";
  /** Of its folder, as clusterctl derives it from type and name. */
  label: string;
  components: string;
  namespace: string;
  system: string;
  /** Kinds that it needs and no other provider brings. */
  kinds: readonly (readonly Kind[])[];
  /** The group that Cluster API's core reads and writes of it. */
  group: string;
  bootUrl: string;
}

/** What a person sets before `clusterctl init`; each has a default. */
const BOOT_URL = "${SLIPWAY_BOOT_URL:=https://boot.invalid}";
const IMAGE = "${SLIPWAY_IMAGE:=registry.slipway.dev/slipway}";
const RELEASE_SERIES = {
  major: Number(VERSION.split(".")[0]),
  minor: Number(VERSION.split(".")[1]),
  contract: "v1beta2",
};

const CONTROL_PLANES = "controlplane.cluster.x-k8s.io";
const PROVIDERS: readonly Provider[] = [
  {
    name: "packet",
    type: "InfrastructureProvider",
    label: "infrastructure-packet",
    components: "infrastructure-components.yaml",
    namespace: "slipway-packet-system",
    system: "packet",
    kinds: [[MachineProvider]],
    group: "infrastructure.cluster.x-k8s.io",
    bootUrl: BOOT_URL,
  },
  {
    name: "kamaji",
    type: "ControlPlaneProvider",
    label: "control-plane-kamaji",
    components: "control-plane-components.yaml",
    namespace: "slipway-kamaji-system",
    system: "kamaji-control-plane",
    kinds: [],
    group: CONTROL_PLANES,
    // It buys no machines.
    bootUrl: "https://boot.invalid",
  },
];

/** The files of the repository below `root`, an absolute path: path → text. */
export function clusterctlFiles(root: string): Map<string, string> {
  const files = new Map<string, string>();
  const metadata = {
    apiVersion: "clusterctl.cluster.x-k8s.io/v1alpha3",
    kind: "Metadata",
    releaseSeries: [RELEASE_SERIES],
  };
  const providers = PROVIDERS.map((provider) => {
    const folder = join(root, provider.label, `v${VERSION}`);
    const url = join(folder, provider.components);
    files.set(
      url,
      componentsOf(provider)
        .map((object) => `---\n${dump(object, { lineWidth: -1, noRefs: true })}`)
        .join(""),
    );
    files.set(join(folder, "metadata.yaml"), dump(metadata));
    return { name: provider.name, type: provider.type, url };
  });
  files.set(join(root, "clusterctl.yaml"), dump({ providers }));
  return files;
}

/** All objects of a provider, in the order in which they are applied. */
function componentsOf({ namespace, system: name, kinds, group, bootUrl }: Provider): object[] {
  const [system] = systemsOf([name]) as [System];
  const all = [...system.kinds, ...kinds];
  const usual = installValues([system]).parse({});
  const values = {
    ...usual,
    systems: name,
    image: { ...usual.image, repository: IMAGE },
    boot: { ...usual.boot, url: bootUrl },
    settings: { [name]: { enabled: true } },
  };
  const { rbac: _, ...rest } = objectsByFile(all, [system]);
  const objects = Object.values(rest)
    .flat()
    .map((tree) => evaluate(tree, values, namespace) as object | undefined)
    .filter((object) => object !== undefined);
  // Definitions are upgraded by clusterctl; the operator has the right to write where they are converted.
  const rights: RbacObject[] = [...operatorObjects(namespace, [], []), ...systemInOperatorObjects(system, namespace)];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: LABELS } },
    ...all.map((versions) => labelled(crdOf(versions, throughService(namespace)))),
    coreRights(system, group),
    ...(group === CONTROL_PLANES ? bootstrapRights(system, group) : []),
    ...rights.map((object) => ({
      ...renamed(object, name),
      metadata: { ...renamed(object, name).metadata, labels: LABELS },
    })),
    ...objects.map(withManager),
  ];
}

/** The label says that a definition which clusterctl wrote is Slipway's. */
const labelled = <T extends { metadata: { labels?: Record<string, string> } }>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...LABELS } },
});

/** Cluster-wide names of two providers must differ; those of `slipway-SYSTEM` do already. */
function renamed(object: RbacObject, system: string): RbacObject {
  if (object.metadata.namespace !== undefined) return object;
  const named = (name: string): string => (name === "slipway" ? `slipway-${system}-base` : name);
  const { roleRef } = object as RbacObject & { roleRef?: { name: string } };
  return {
    ...object,
    metadata: { ...object.metadata, name: named(object.metadata.name) },
    ...(roleRef !== undefined && { roleRef: { ...roleRef, name: named(roleRef.name) } }),
  } as RbacObject;
}

/** What upstream's managers may do to the provider's objects: their own roles are put together of such. */
function coreRights({ name, kinds }: System, group: string): object {
  const resources = kinds.flatMap(([kind]) => (kind!.group === group ? [kind!.plural, `${kind!.plural}/status`] : []));
  const verbs = ["create", "delete", "get", "list", "patch", "update", "watch"];
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: {
      name: `slipway-${name}-for-cluster-api`,
      labels: { ...LABELS, "cluster.x-k8s.io/aggregate-to-manager": "true" },
    },
    rules: [{ apiGroups: [group], resources, verbs }],
  };
}

/**
 * What upstream's bootstrap provider reads of control planes: a worker's configuration follows their version. Its account has no role that is put
 * together; it is named by its group, since clusterctl moves accounts that are subjects into the provider's namespace.
 */
function bootstrapRights({ name, kinds }: System, group: string): object[] {
  const role = `slipway-${name}-for-bootstrap`;
  const resources = kinds.flatMap(([kind]) => (kind!.group === group ? [kind!.plural] : []));
  const api = "rbac.authorization.k8s.io";
  const metadata = { name: role, labels: LABELS };
  const subject = { apiGroup: api, kind: "Group", name: "system:serviceaccounts:capi-kubeadm-bootstrap-system" };
  return [
    {
      ...{ apiVersion: `${api}/v1`, kind: "ClusterRole", metadata },
      rules: [{ apiGroups: [group], resources, verbs: ["get", "list", "watch"] }],
    },
    {
      ...{ apiVersion: `${api}/v1`, kind: "ClusterRoleBinding", metadata },
      roleRef: { apiGroup: api, kind: "ClusterRole", name: role },
      subjects: [subject],
    },
  ];
}

/** clusterctl looks for a provider's program by this name. */
function withManager(object: object): object {
  const deployment = object as { kind?: string; spec: { template: { spec: { containers: { name: string }[] } } } };
  if (deployment.kind !== "Deployment") return object;
  const copy = structuredClone(deployment);
  copy.spec.template.spec.containers[0]!.name = "manager";
  return copy;
}
