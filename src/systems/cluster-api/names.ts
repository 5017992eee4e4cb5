/** Name of the system, by which it is elected and chosen. */
export const CLUSTER_API = "cluster-api";
