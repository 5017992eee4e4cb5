/** The ConfigMap that stands for the harbour: what it calls out. */
export const HARBOUR = { name: "harbour", namespace: "default" };
