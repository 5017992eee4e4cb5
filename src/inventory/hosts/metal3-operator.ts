/** Whether Metal3's own operator drives the cluster's hosts: two that drive one machine would work against each other. */
import type { Clock, Log } from "@slipway/base";
import type { Access, Client } from "@slipway/kube";
import { CustomResourceDefinition, Deployment, Lease } from "@slipway/kube/core";
import { isForeignDefinition } from "../../kinds/install.ts";

/** The Lease that Metal3's operator leads by (baremetal-operator, `LeaderElectionID`), in whichever namespace it runs. */
const LEASE = "baremetal-operator";
/** A label of the Deployment in Metal3's manifests (baremetal-operator, `config/base/manager.yaml`). */
const DEPLOYMENT_LABEL = "webhook=metal3-io-v1alpha1-baremetalhost";
const DEFINITION = { name: "baremetalhosts.metal3.io" };
const CLAIMS = { name: "hostclaims.metal3.io" };
/** Marks of a definition that an installed product keeps. Metal3's manifests have cert-manager's on the definition of BareMetalHosts. */
const MARKS = {
  annotations: ["cert-manager.io/inject-ca-from", "meta.helm.sh/release-name", "capability.openshift.io/name"],
  labels: ["app.kubernetes.io/managed-by", "olm.managed"],
} as const;
/** A look is good for so long. */
const LOOK_MS = 60_000;
/** A leader that has not renewed its Lease for so many of its durations is gone. */
const DURATIONS = 4;
const DURATION_S = 15;

/** What finding Metal3's operator takes. */
export const METAL3_OPERATOR_ACCESS: readonly Access[] = [
  { resource: Lease, verbs: ["list"] },
  { resource: Deployment, verbs: ["list"] },
  { resource: CustomResourceDefinition, verbs: ["get"], names: [DEFINITION.name, CLAIMS.name] },
];

/** What a look takes. */
export interface LookAt {
  client: Client;
  clock: Pick<Clock, "now" | "monotonic">;
  log: Log;
}

/** By what an operator was found that drives the hosts already; undefined: there is none. */
export type DrivenElsewhere = (at: LookAt) => Promise<string | undefined>;

/** Finds Metal3's own operator. It looks once a minute, and logs what has changed. */
export function metal3Operator(): DrivenElsewhere {
  let logged: string | undefined;
  return onceAMinute(async ({ client, clock, log }) => {
    const found = await signOf(client, clock);
    if (found !== logged && found !== undefined)
      log.warn(
        { found, remedy: "keep one of both: --drive-hosts always drives the hosts here" },
        "Metal3's operator drives the BareMetalHosts; they are left alone",
      );
    if (found === undefined && logged !== undefined)
      log.info({ was: logged }, "Metal3's operator is gone; the BareMetalHosts are driven here");
    logged = found;
    return found;
  });
}

/**
 * By what it was found that Metal3's operator serves HostClaims, too: it drives the hosts, and their definition is its own. Else claims are
 * made here, and whoever drives the hosts installs what they say.
 */
export function claimedElsewhere(drivenElsewhere: DrivenElsewhere): DrivenElsewhere {
  const definitionOf = onceAMinute(({ client }) => client.find(CustomResourceDefinition, CLAIMS));
  return async (at) => {
    const found = await drivenElsewhere(at);
    if (found === undefined) return undefined;
    const definition = await definitionOf(at);
    return definition !== undefined && isForeignDefinition(definition) ? found : undefined;
  };
}

/** A look whose answer is good for a minute; one that failed is made again. */
function onceAMinute<T>(look: (at: LookAt) => Promise<T>): (at: LookAt) => Promise<T> {
  let last: { answer: Promise<T>; at: number } | undefined;
  return (at) => {
    const now = at.clock.monotonic();
    if (last === undefined || now - last.at > LOOK_MS) last = { answer: look(at), at: now };
    const { answer } = last;
    answer.catch(() => {
      if (last?.answer === answer) last = undefined;
    });
    return answer;
  };
}

async function signOf(client: Client, clock: Pick<Clock, "now">): Promise<string | undefined> {
  const [leases, deployments, definition] = await Promise.all([
    client.list(Lease, { fieldSelector: `metadata.name=${LEASE}` }),
    client.list(Deployment, { labelSelector: DEPLOYMENT_LABEL }),
    client.find(CustomResourceDefinition, DEFINITION),
  ]);
  const lease = leases.items.find((each) => isRenewed(each, clock.now()));
  if (lease !== undefined)
    return `Lease ${lease.metadata.namespace}/${LEASE}, which ${lease.spec?.holderIdentity} renews`;
  const running = deployments.items.find(({ spec }) => spec?.replicas !== 0);
  if (running !== undefined) return `Deployment ${running.metadata.namespace}/${running.metadata.name}`;
  // It is seen to have ended.
  if (leases.items.some(({ spec }) => spec?.holderIdentity) || deployments.items.length > 0) return undefined;
  const mark = definition && isForeignDefinition(definition) ? markOf(definition) : undefined;
  return (
    mark && `CustomResourceDefinition ${DEFINITION.name}, which ${mark} marks as managed, with no Lease to look at`
  );
}

function isRenewed({ spec }: Lease, now: number): boolean {
  if (!spec?.holderIdentity || spec.renewTime === undefined) return false;
  const alive = DURATIONS * (spec.leaseDurationSeconds ?? DURATION_S) * 1_000;
  return now - Date.parse(spec.renewTime) < alive;
}

/** The mark by which something keeps the definition, with its value. */
function markOf({ metadata }: CustomResourceDefinition): string | undefined {
  const { annotations = {}, labels = {} } = metadata;
  const annotation = MARKS.annotations.find((name) => annotations[name] !== undefined);
  if (annotation !== undefined) return `annotation ${annotation}: ${annotations[annotation]}`;
  const label = MARKS.labels.find((name) => labels[name] !== undefined);
  return label && `label ${label}: ${labels[label]}`;
}
