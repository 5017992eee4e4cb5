/** Of the rack that stands in for a user's own: what a person there would know, for what the demo plays on it. */

/** Blank servers in a rack: switched on, they start from the network, and are discovered. */
export const STAND_IN_SERVERS = ["server-1", "server-2", "server-3", "server-4", "server-5"] as const;

/** Of their BMCs. It opens nothing but the simulation. */
export const STAND_IN_LOGIN = { username: "admin", password: "simulated" } as const;

/** The address of the BMC of the n-th server, from 0. */
export const standInBmc = (at: number): string => `redfish://${STAND_IN_SERVERS[at]}`;
