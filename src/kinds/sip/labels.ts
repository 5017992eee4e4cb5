/** Labels by which SIP's users, and Cluster API's provider for Metal3, find the hosts of a sub-cluster. Keys and values are a contract. */

const PREFIX = "sip.airshipit.org";
export const CLUSTER_NAMESPACE = `${PREFIX}/cluster-namespace`;
export const CLUSTER_NAME = `${PREFIX}/cluster-name`;
/** The role, as `spec.nodes` has it: `ControlPlane`, `Worker`. */
export const NODE_TYPE = `${PREFIX}/node-type`;

/** What `spreadTopology`, a spelling of before March 2021, keeps the hosts of a role apart by. */
export const SPREAD = { PerRack: `${PREFIX}/rack`, PerHost: `${PREFIX}/server` } as const;

/** On a host: when it was claimed. By it the last come is known. */
export const CLAIMED_AT = "slipway.dev/sip-claimed-at";

export const FINALIZER = "sip.airship.airshipit.org/finalizer";
