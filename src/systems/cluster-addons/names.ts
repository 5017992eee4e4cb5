export const CLUSTER_ADDONS = "cluster-addons";
/** On a Cluster: its add-ons, separated by commas, or `none`. */
export const ADDONS_ANNOTATION = "slipway.dev/addons";
/** Who applies add-ons in workload clusters. */
export const FIELD_MANAGER = "slipway-addons";
