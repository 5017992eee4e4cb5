/** Which Secrets a cluster goes by, and their versions: of Secrets that it did not make, the metadata alone are watched. */
import { type Cache, keyOf, metadataOf, type Ref, refOf } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { BareMetalHost } from "../../../kinds/metal3/bare-metal-host.ts";
import { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";

export const SecretMetadata = metadataOf(Secret);
const BY_SECRET = "sip-secret";

/** Of both kinds that name Secrets. */
export const HOST_INDEXES = { [BY_SECRET]: (host: BareMetalHost) => secretsOfHost(host).map(keyOf) };
export const CLUSTER_INDEXES = { [BY_SECRET]: (cluster: SIPCluster) => secretsOfCluster(cluster).map(keyOf) };

/** The Secrets that are read of a host. */
function secretsOfHost({ metadata: { namespace = "" }, spec }: BareMetalHost): Ref[] {
  const { networkData, preprovisioningNetworkDataName, bmc } = spec;
  const names = [networkData?.name ?? preprovisioningNetworkDataName, bmc?.credentialsName];
  return names.flatMap((name) => (name ? [{ namespace, name }] : []));
}

function secretsOfCluster({ metadata: { namespace = "", name: own }, spec }: SIPCluster): Ref[] {
  const { jumpHost = [], auth = [] } = spec.services;
  const names = [
    ...jumpHost.map(({ nodeSSHPrivateKeys }) => nodeSSHPrivateKeys),
    ...auth.flatMap(({ caSecret, configSecret }) => [caSecret, configSecret, `${own}-ca`]),
  ];
  return [...new Set(names)].flatMap((name) => (name ? [{ namespace, name }] : []));
}

/** The clusters that name a Secret themselves, and the hosts that do. */
export function usersOf(cache: Cache, secret: Ref): { clusters: Ref[]; hosts: readonly BareMetalHost[] } {
  return {
    clusters: cache.byIndex(SIPCluster, BY_SECRET, keyOf(secret)).map(refOf),
    hosts: cache.byIndex(BareMetalHost, BY_SECRET, keyOf(secret)),
  };
}

/** Changes with any of the Secrets that are read of the host, and when one comes or goes. */
export function hostVersion(cache: Cache, host: BareMetalHost): string {
  return secretsOfHost(host)
    .map((ref) => versionOf(cache, ref))
    .join();
}

/** Empty: there is none. Unlike the version alone, another Secret of the same name has another. */
export function versionOf(cache: Cache, ref: Ref): string {
  const metadata = cache.get(SecretMetadata, ref)?.metadata;
  return metadata === undefined ? "" : `${metadata.uid}/${metadata.resourceVersion}`;
}
