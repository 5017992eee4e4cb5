import type { JoinConfiguration } from "../../kinds/kubeadm/join-fields.ts";
import { yaml } from "../installation/cloud-config.ts";
import { kubeadmVersion } from "./api-version.ts";

/** What a machine joins with, beside what its user wrote. */
export interface JoinTerms {
  /** Version of Kubernetes on the machine. */
  version: string;
  /** `host:port` of the API server. */
  endpoint: string;
  caHashes: readonly string[];
  /** `id.secret`: a secret. */
  token: string;
}

/** The core takes it off once it has labelled the Node. */
const UNINITIALIZED = { key: "node.cluster.x-k8s.io/uninitialized", effect: "NoSchedule" };

/**
 * kubeadm's JoinConfiguration, in the version that its kubeadm reads. What the user wrote of discovery stays. Throws `Invalid` for
 * a version that is none.
 */
export function joinConfigurationText(wanted: JoinConfiguration, terms: JoinTerms): string {
  const apiVersion = kubeadmVersion(terms.version);
  const isV1beta4 = apiVersion.endsWith("v1beta4");
  const { caCertPath, controlPlane, nodeRegistration = {}, patches, skipPhases, timeouts = {} } = wanted;
  const { kubeletExtraArgs, imagePullSerial, taints, ...node } = nodeRegistration;
  const { tlsBootstrapSeconds } = timeouts;
  return yaml({
    apiVersion,
    kind: "JoinConfiguration",
    caCertPath,
    controlPlane,
    discovery: {
      ...discoveryOf(wanted, terms),
      ...(!isV1beta4 && tlsBootstrapSeconds !== undefined && { timeout: `${tlsBootstrapSeconds}s` }),
    },
    nodeRegistration: {
      ...node,
      kubeletExtraArgs: argumentsOf(kubeletExtraArgs, isV1beta4),
      // With a list of any length kubeadm leaves out its own taint of control planes.
      taints: controlPlane === undefined ? [...(taints ?? []), UNINITIALIZED] : taints,
      ...(isV1beta4 && { imagePullSerial }),
    },
    patches,
    skipPhases,
    ...(isV1beta4 && Object.keys(timeouts).length > 0 && { timeouts: timeoutsOf(timeouts) }),
  });
}

/** Whether a token must be made: the user gave neither one nor a file. */
export function needsToken({ discovery = {} }: JoinConfiguration): boolean {
  return discovery.file === undefined && !discovery.bootstrapToken?.token;
}

function discoveryOf({ discovery = {} }: JoinConfiguration, { endpoint, caHashes, token }: JoinTerms): object {
  const { file, bootstrapToken = {}, tlsBootstrapToken } = discovery;
  if (file !== undefined) return { file, tlsBootstrapToken };
  const { caCertHashes, unsafeSkipCAVerification } = bootstrapToken;
  const hashes = caCertHashes?.length ? caCertHashes : caHashes;
  return {
    bootstrapToken: {
      apiServerEndpoint: bootstrapToken.apiServerEndpoint || endpoint,
      token: bootstrapToken.token || token,
      ...(unsafeSkipCAVerification === true ? { unsafeSkipCAVerification } : { caCertHashes: hashes }),
    },
    tlsBootstrapToken,
  };
}

type Arguments = NonNullable<JoinConfiguration["nodeRegistration"]>["kubeletExtraArgs"];

/** v1beta3 has a map: of a name that repeats, the last counts. */
function argumentsOf(list: Arguments, isV1beta4: boolean): unknown {
  if (list === undefined || list.length === 0) return undefined;
  return isV1beta4 ? list : Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

/** `tlsBootstrapSeconds: 300` is `tlsBootstrap: 300s`. */
function timeoutsOf(timeouts: NonNullable<JoinConfiguration["timeouts"]>): object {
  const named = Object.entries(timeouts).filter(([, seconds]) => seconds !== undefined);
  return Object.fromEntries(named.map(([name, seconds]) => [name.replace(/Seconds$/, ""), `${seconds}s`]));
}
