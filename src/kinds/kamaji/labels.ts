/** Labels by which Kamaji's users, and what they have built around it, know what belongs to a tenant. */

const PREFIX = "kamaji.clastix.io";
export const PROJECT = { [`${PREFIX}/project`]: "kamaji" } as const;
export const TENANT_LABEL = `${PREFIX}/name`;

/** Labels of an object that is made for a tenant. */
export function labelsOf(tenant: string, component: string): Record<string, string> {
  return { ...PROJECT, [TENANT_LABEL]: tenant, [`${PREFIX}/component`]: component };
}

/** On an object that is made: a checksum of all that is wanted of it. */
export const CHECKSUM = `${PREFIX}/checksum`;
