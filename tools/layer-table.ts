/** The layers of the tree, which `layers.ts` holds: the only place where they are stated. */

/** The packages, and those that each may import. */
export const PACKAGES = { base: [], kube: ["base"], cel: [], apiserver: ["base", "kube", "cel"] } as const;
const LIBRARIES = ["base", "kube"];
const KINDS = [...LIBRARIES, "kinds", "pki"];
const DOING = [...KINDS, "cluster-api", "machines", "inventory", "netboot", "bootstrap", "bmc-service"];
export const SYSTEMS = [...DOING, "views", "plunder", "workload", "datastores", "tenants", "kubernetes", "systems"];
const OPERATOR = [...SYSTEMS, "node-agent", "operator", "console"];

/** What stands in for a system's surroundings. Only demo, laptop and tests load it. */
export const STANDS_IN = /^src\/systems\/(counterpart|[a-z-]+\/simulated)\.ts$/;

/** What each part may import: packages, and folders of src/. Production code never imports `sim`; the command that starts simulations and the lab do. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  ...PACKAGES,
  kinds: KINDS,
  pki: [...LIBRARIES, "pki"],
  "cluster-api": [...KINDS, "cluster-api"],
  views: [...KINDS, "inventory", "views"],
  workload: [...LIBRARIES, "workload"],
  machines: DOING,
  inventory: DOING,
  netboot: DOING,
  "bmc-service": ["base", "bmc-service"],
  "node-agent": [...KINDS, "bmc-service", "node-agent"],
  datastores: ["base", "datastores"],
  bootstrap: DOING,
  plunder: [...DOING, "plunder"],
  systems: SYSTEMS,
  kubernetes: [...LIBRARIES, "kubernetes"],
  tenants: [...KINDS, "kubernetes", "apiserver", "datastores", "tenants"],
  sim: [...DOING, "apiserver", "datastores", "tenants", "sim"],
  operator: OPERATOR,
  console: OPERATOR,
  lab: [...OPERATOR, "sim", "lab"],
  laptop: [...OPERATOR, "kubernetes", "apiserver", "sim", "laptop"],
  cli: [...OPERATOR, "kubernetes", "apiserver", "sim", "lab", "laptop", "cli"],
};

/**
 * Folders inside a part, bottom first: each imports only itself and those before it. "." is the part's own files. Tests, and what only tests
 * share (`testing.ts`), stand outside.
 */
export const INNER_LAYERS: Readonly<Record<string, readonly string[]>> = {
  "packages/apiserver": [
    ...[
      "json",
      "data",
      "model",
      "select",
      "storage",
      "rules",
      "wire",
      "protobuf",
      "body",
      "webhook",
      "schema",
      "patch",
    ],
    ...[
      "conversion",
      "core",
      "admission",
      "verbs",
      "builtin",
      "auth",
      "http",
      "dispatch",
      "lifecycle",
      ".",
      "doubling",
    ],
  ],
  "src/plunder": ["files", "ssh", "parlay", "deployments", "import", "client", "api", "."],
  "src/netboot": [
    ...[
      "protocol",
      "sockets",
      "files",
      "media",
      "grub",
      "ipxe",
      "tpm",
      "hosts",
      "dhcp",
      "tftp",
      "iso",
      "images",
      "solicitations",
      "syslog",
    ],
    ...["http", "boot", "logs", "agent", ".", "service"],
  ],
};

/** Kinds that the parts named beside them may not import: those parts take the kinds of every system from the list of systems. */
const ONE_SYSTEMS_KINDS = "src/kinds/harvester/";
const KNOW_NO_SYSTEM = ["src/operator/", "src/cli/", "src/laptop/", "src/machines/"];

/** What the console's page, which runs in a browser, takes from the rest: views, and what they are made of. */
const PAGE = "src/console/web/";
const OF_THE_PAGE = [PAGE, "src/views/", "src/kinds/cluster-api/field-path.ts", "packages/base/", "packages/kube/"];

/** Whether a file of the page imports what a browser must not have. */
export function isPastThePage(file: string, target: string): boolean {
  return file.startsWith(PAGE) && !OF_THE_PAGE.some((part) => target.startsWith(part));
}

/** Whether a file that serves all systems alike imports the kinds of one. */
export function namesASystem(file: string, target: string): boolean {
  return target.startsWith(ONE_SYSTEMS_KINDS) && KNOW_NO_SYSTEM.some((part) => file.startsWith(part));
}

/** Whether a file of a part with inner layers imports one of the same part from a layer above its own, or from or into a folder that has none. */
export function isUpwards(file: string, target: string): boolean {
  const root = file.split("/").slice(0, 2).join("/");
  const layers = INNER_LAYERS[root];
  if (layers === undefined) return false;
  const levelOf = (path: string): number => layers.indexOf(path.split("/").length === 3 ? "." : path.split("/")[2]!);
  const [from, to] = [levelOf(file), levelOf(target)];
  return from === -1 || to === -1 || to > from;
}
