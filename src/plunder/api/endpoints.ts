/** What plunder's API serves: the paths, and the words by which its clients find them. */

export interface Endpoint {
  name: string;
  path: string;
  /** What follows the path; `{id}` stands for a MAC or an address with dashes, or for a name. */
  functionEndpoint: string;
  description: string;
  method: "GET" | "POST" | "PATCH" | "DELETE";
}

/** One line each: name, method, path, what follows it, description. */
const LINES = [
  ["config", "GET", "/config", "", "The server's configuration"],
  ["config", "POST", "/config", "", "Replaces the boot configurations"],
  ["configBoot", "POST", "/config/boot", "/{id}", "Adds a boot configuration"],
  ["configBoot", "DELETE", "/config/boot", "/{id}", "Deletes a boot configuration"],
  ["dhcp", "GET", "/dhcp", "/leases", "Machines that have a lease"],
  ["dhcp", "GET", "/dhcp", "/unleased", "Machines that were seen and have no deployment"],
  ["deployments", "GET", "/deployments", "", "All deployments, and what they have in common"],
  ["deployments", "POST", "/deployments", "", "Replaces all deployments"],
  ["deployment", "POST", "/deployment", "", "Adds a deployment"],
  ["deployment", "PATCH", "/deployment", "", "Replaces the deployment of the machine in the body"],
  ["deploymentID", "GET", "/deployment", "/{id}", "The deployment of a machine"],
  [
    "deploymentID",
    "PATCH",
    "/deployment",
    "/{id}",
    "Replaces the deployment of a machine; global: what all have in common",
  ],
  ["deploymentID", "DELETE", "/deployment", "/{id}", "Deletes a deployment, by MAC or address"],
  ["deploymentMac", "DELETE", "/deployment/mac", "/{id}", "Deletes the deployment of a machine"],
  ["deploymentAddress", "DELETE", "/deployment/address", "/{id}", "Deletes the deployment that gives an address"],
  ["parlay", "POST", "/parlay", "", "Runs a map over SSH"],
  ["parlayLog", "GET", "/parlay/logs", "/{id}", "What was done on a machine"],
  ["parlayLog", "DELETE", "/parlay/logs", "/{id}", "Deletes what is told of a machine"],
  ["apis", "GET", "/api", "", "What can be asked"],
  ["apiFunctions", "GET", "/api", "/{id}", "Where something can be asked: /api/NAME/METHOD"],
] as const;

export const ENDPOINTS: readonly Endpoint[] = LINES.map(([name, method, path, functionEndpoint, description]) => ({
  ...{ name, path, functionEndpoint, description, method },
}));

/** Of an endpoint: `POST /deployment/{id}`. */
export type Route = string;

/** The endpoint of a request, and what its `{id}` is; undefined: there is none of this path. `isPath`: there is, for other methods. */
export function routeOf(method: string, path: string): { route?: Route; id: string; isPath: boolean } {
  const isOf = ({ path: begin, functionEndpoint }: Endpoint): boolean =>
    functionEndpoint === "/{id}"
      ? path.startsWith(`${begin}/`) && path.length > begin.length + 1
      : path === begin + functionEndpoint;
  // The longest path that fits: /deployment/mac/… is no machine called mac.
  const fitting = ENDPOINTS.filter((each) => isOf(each)).sort((a, b) => b.path.length - a.path.length);
  const longest = fitting.filter(
    (each) => each.path === fitting[0]?.path && each.functionEndpoint === fitting[0]?.functionEndpoint,
  );
  const found = longest.find((each) => each.method === method);
  const [first] = longest;
  const id = first?.functionEndpoint === "/{id}" ? path.slice(first.path.length + 1) : "";
  return {
    ...(found && { route: `${method} ${found.path}${found.functionEndpoint}` }),
    id,
    isPath: first !== undefined,
  };
}

/** Whether plunder's clients ask this path. */
export function isPlunders(path: string): boolean {
  return /^\/(api|config|dhcp|deployments?|parlay|image|stream)(\/|$)/.test(path);
}
