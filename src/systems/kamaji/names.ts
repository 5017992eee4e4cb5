/** Names by which Kamaji's users, and what they have built around it, know its objects. */
export const KAMAJI = "kamaji";

export const FINALIZER = "finalizer.kamaji.clastix.io";
/** Kamaji's own operator puts these on a tenant and on the Secret of its datastore; here they only keep a tenant that was taken over from going (B51). */
export const SOOT_FINALIZER = "finalizer.kamaji.clastix.io/soot";
export const SECRET_FINALIZER = "finalizer.kamaji.clastix.io/datastore-secret";
/** On a DataStore that tenants may use. */
export const STORE_FINALIZER = "kamaji.clastix.io/TenantControlPlane";
/** Nothing is done for an object with it, but for its deletion. */
export const PAUSED = "kamaji.clastix.io/paused";
/** On a Secret: what it holds is made anew. */
export const ROTATE = "certs.kamaji.clastix.io/rotate";
/** On a TenantControlPlane: where it is to run, in the place of the operator's setting. */
export const RUNTIME = "slipway.dev/runtime";
/** On a TenantControlPlane: where it runs, written before it is started there. It stays there. */
export const RUNS_ON = "slipway.dev/runs-on";

/** On a TenantControlPlane: the version (`v1.32.1`) to which it goes up though its clients use APIs that are gone there. */
export const WITHOUT_APIS = "slipway.dev/without-removed-apis";

/** On a TenantControlPlane: in which DataStores it asks for a place, and by which names (`place-bid.ts`). */
export const PLACE_BID = "slipway.dev/place-bid";
/** On a TenantControlPlane whose objects are moved between DataStores: `FROM/TO`. */
export const MIGRATION = "slipway.dev/migration";
/** On a TenantControlPlane: which of its resources are in which other DataStores (`overrides.ts`). */
export const OVERRIDES = "slipway.dev/datastore-overrides";
/** On a TenantControlPlane: a SIPCluster has asked for bindings of groups in it; there may be some that are no longer wanted. */
export const GROUP_BINDINGS = "slipway.dev/group-bindings";
export { CHECKSUM, labelsOf, PROJECT, TENANT_LABEL } from "../../kinds/kamaji/labels.ts";

const PREFIX = "kamaji.clastix.io";
/** Of certificates and kubeconfigs besides: which of the two a Secret holds. */
export const LIFECYCLE_LABEL = `${PREFIX}/certificate_lifecycle_controller`;

/** On a Secret that a KubeconfigGenerator made: by which, and of which tenant. */
export const GENERATED_BY = `${PREFIX}/managed-by`;
export const GENERATED_FOR = `${PREFIX}/managed-for`;
