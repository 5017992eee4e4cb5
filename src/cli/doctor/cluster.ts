import { type Clock, parseTime } from "@slipway/base";
import { type Client, isTrue, type Transport } from "@slipway/kube";
import { ConfigMap, CustomResourceDefinition, Lease } from "@slipway/kube/core";
import type { Connection } from "@slipway/kube/http";
import type { Kind } from "../../kinds/kind.ts";
import { since } from "../../views/since.ts";
import { certificateFinding } from "./certificates.ts";
import type { Check, Finding } from "./finding.ts";

export interface ClusterUnderTest {
  client: Client;
  transport: Transport;
  connection: Pick<Connection, "server" | "ca" | "cert">;
  clock: Clock;
  /** Where the operator is. */
  namespace: string;
  /** The systems that are to run, with the kinds that they bring. */
  systems: readonly { name: string; kinds: readonly (readonly Kind[])[] }[];
}

/** The oldest minor release that Slipway is tested on. */
const OLDEST_MINOR = 34;
const CLOCK_OFF_MS = 5_000;
const RENEW_KUBECONFIG = "get a new kubeconfig from whoever gave you this one (kubeadm certs renew, for instance)";

/** What an installation on a cluster needs. */
export function clusterChecks(of: ClusterUnderTest): Check[] {
  return [
    { about: "version", look: () => version(of) },
    { about: "clock", look: () => clockOf(of) },
    { about: "certificates", look: async () => certificates(of) },
    { about: "rights", look: () => rights(of) },
    { about: "definitions", look: () => definitions(of) },
    { about: "boot address", look: () => bootAddress(of) },
    { about: "operator", look: () => leaders(of) },
  ];
}

async function version({ transport }: ClusterUnderTest): Promise<Finding[]> {
  const about = "version";
  const { body } = await transport.request({ method: "GET", path: "/version" });
  const { gitVersion = "" } = body as { gitVersion?: string };
  const minor = Number(/^v1\.(\d+)/.exec(gitVersion)?.[1]);
  const message = `Kubernetes ${gitVersion}`;
  if (minor >= OLDEST_MINOR) return [{ about, is: "well", message }];
  const repair = `upgrade to 1.${OLDEST_MINOR} or newer: older releases are not tested`;
  return [{ about, is: "warning", message, repair }];
}

async function clockOf({ transport, clock }: ClusterUnderTest): Promise<Finding[]> {
  const about = "clock";
  const before = clock.now();
  const { headers } = await transport.request({ method: "GET", path: "/version" });
  const there = parseTime(headers.date);
  if (there === undefined) return [{ about, is: "well", message: "the API server does not say its time" }];
  // The header has whole seconds, of a moment between question and answer.
  const off = there < before - 1000 ? before - there : Math.max(0, there - clock.now());
  if (off <= CLOCK_OFF_MS) return [{ about, is: "well", message: "agrees with the API server's" }];
  const repair = "run an NTP client (chrony, systemd-timesyncd) here and on the cluster's nodes";
  return [{ about, is: "problem", message: `${since(off)} off from the API server's`, repair }];
}

function certificates({ connection, clock }: ClusterUnderTest): Finding[] {
  const now = clock.now();
  const of = (about: string, pem: string | undefined): Finding[] =>
    pem === undefined ? [] : [certificateFinding(about, pem, { now, renew: RENEW_KUBECONFIG })];
  return [...of("API's authority", connection.ca), ...of("own certificate", connection.cert)];
}

/** What an installer does. */
const INSTALLS: readonly { verb: string; group: string; resource: string }[] = [
  { verb: "create", group: "apiextensions.k8s.io", resource: "customresourcedefinitions" },
  { verb: "create", group: "rbac.authorization.k8s.io", resource: "clusterroles" },
  { verb: "create", group: "apps", resource: "deployments" },
];

async function rights({ transport, namespace }: ClusterUnderTest): Promise<Finding[]> {
  const about = "rights";
  const missing: string[] = [];
  for (const { verb, group, resource } of INSTALLS) {
    const resourceAttributes = { verb, group, resource, namespace };
    const { body } = await transport.request({
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } },
    });
    const { status } = body as { status?: { allowed?: boolean } };
    if (status?.allowed !== true) missing.push(`${verb} ${resource}`);
  }
  if (missing.length === 0) return [{ about, is: "well", message: "you may install" }];
  const repair = "have a cluster administrator install it, or bind the role cluster-admin to yourself while you do";
  return [{ about, is: "warning", message: `you may not ${missing.join(", ")}`, repair }];
}

async function definitions({ client, systems }: ClusterUnderTest): Promise<Finding[]> {
  const { items } = await client.list(CustomResourceDefinition);
  const found = new Map(items.map((definition) => [definition.metadata.name, definition]));
  return systems.flatMap(({ name, kinds }): Finding[] => {
    if (kinds.length === 0) return [];
    const about = `system ${name}`;
    const names = kinds.map(([first]) => `${first!.plural}.${first!.group}`);
    const missing = names.filter((one) => !found.has(one));
    const broken = names.filter((one) => {
      const { status } = (found.get(one) ?? {}) as { status?: { conditions?: { type: string; status: string }[] } };
      return found.has(one) && !isTrue(status?.conditions, "Established");
    });
    if (broken.length > 0) {
      const repair = "see its conditions: kubectl describe crd NAME; a name that another definition has is refused";
      return [{ about, is: "problem", message: `not established: ${broken.join(", ")}`, repair }];
    }
    if (missing.length === 0) return [{ about, is: "well", message: "its definitions are there" }];
    const repair = `slipway crds --systems ${name} | kubectl apply -f -, or kubectl apply -f deploy/slipway.yaml`;
    return [{ about, is: "problem", message: `no definition of ${missing.join(", ")}`, repair }];
  });
}

async function bootAddress({ client, namespace }: ClusterUnderTest): Promise<Finding[]> {
  const about = "boot address";
  const map = await client.find(ConfigMap, { namespace, name: "slipway" });
  const url = map?.data?.bootUrl;
  if (url === undefined) {
    const repair = `kubectl -n ${namespace} create configmap slipway --from-literal=bootUrl=URL, or the chart's boot.url`;
    return [{ about, is: "warning", message: `ConfigMap ${namespace}/slipway has no bootUrl`, repair }];
  }
  if (/^https?:\/\/\S+$/.test(url)) return [{ about, is: "well", message: url }];
  return [{ about, is: "problem", message: `bootUrl is no URL`, repair: "write http:// or https:// before it" }];
}

/** Whether somebody leads each system: a lease that is not renewed has no leader. */
async function leaders({ client, clock, namespace, systems }: ClusterUnderTest): Promise<Finding[]> {
  const about = "operator";
  const names = systems.map(({ name }) => `slipway-${name}`);
  const { items } = await client.list(Lease, { namespace });
  const own = items.filter(({ metadata }) => names.includes(metadata.name));
  const repair = `kubectl -n ${namespace} get pods, and docs/troubleshooting.md; install it first where there are none`;
  if (own.length === 0) return [{ about, is: "warning", message: `none has led a system in ${namespace} yet`, repair }];
  const stale = own.filter(({ spec }) => {
    const { renewTime, leaseDurationSeconds = 15 } = spec ?? {};
    return clock.now() - (parseTime(renewTime) ?? 0) > 2000 * leaseDurationSeconds;
  });
  if (stale.length === 0) return [{ about, is: "well", message: `leads ${own.length} systems` }];
  const message = `nobody leads ${stale.map(({ metadata }) => metadata.name.slice("slipway-".length)).join(", ")}`;
  return [{ about, is: "problem", message, repair }];
}
