/**
 * The Harvester configuration's known keys and the loader's tolerance: camel, snake and lower-case spellings and singular
 * forms mean the same key, one value stands for a list of one, and the words true and false for booleans.
 */

/** `leaf`, `list` of leaves, `flag` and `number`; a nested object; a list of objects; a map with free keys. */
type Shape =
  | "leaf"
  | "flag"
  | "number"
  | "list"
  | { keys: Readonly<Record<string, Shape>> }
  | { each: Shape }
  | { map: Shape };

const NETWORK: Shape = {
  keys: {
    interfaces: { each: { keys: { name: "leaf", hw_addr: "leaf" } } },
    method: "leaf",
    ip: "leaf",
    subnet_mask: "leaf",
    gateway: "leaf",
    default_route: "flag",
    bond_options: { map: "leaf" },
    mtu: "number",
    vlan_id: "number",
  },
};

const CONFIG: Shape = {
  keys: {
    scheme_version: "number",
    server_url: "leaf",
    token: "leaf",
    sans: "list",
    os: {
      keys: {
        ssh_authorized_keys: "list",
        hostname: "leaf",
        password: "leaf",
        ntp_servers: "list",
        dns_nameservers: "list",
        modules: "list",
        labels: { map: "leaf" },
        sysctls: { map: "leaf" },
        environment: { map: "leaf" },
        persistent_state_paths: "list",
      },
    },
    install: {
      keys: {
        automatic: "flag",
        skipchecks: "flag",
        mode: "leaf",
        role: "leaf",
        cordoned: "flag",
        silent: "flag",
        poweroff: "flag",
        debug: "flag",
        tty: "leaf",
        networks: { map: NETWORK },
        management_interface: NETWORK,
        vip: "leaf",
        vip_mode: "leaf",
        vip_hw_addr: "leaf",
        device: "leaf",
        data_disk: "leaf",
        force_efi: "flag",
        force_mbr: "flag",
        no_format: "flag",
        wipe_all_disks: "flag",
        wipe_disks_list: "list",
        config_url: "leaf",
        iso_url: "leaf",
        webhooks: {
          each: {
            keys: {
              event: "leaf",
              method: "leaf",
              headers: { map: "list" },
              url: "leaf",
              payload: "leaf",
              insecure: "flag",
              basic_auth: { keys: { user: "leaf", password: "leaf" } },
            },
          },
        },
      },
    },
    system_settings: { map: "leaf" },
  },
};

export interface Network {
  interfaces?: { name?: string; hw_addr?: string }[];
  method?: string;
  ip?: string;
  subnet_mask?: string;
  gateway?: string;
  default_route?: boolean;
  bond_options?: Record<string, string>;
  mtu?: number;
  vlan_id?: number;
}

export interface Webhook {
  event?: string;
  method?: string;
  headers?: Record<string, string[]>;
  url?: string;
  payload?: string;
  basic_auth?: { user?: string; password?: string };
}

/** A loaded configuration: the keys the simulation looks at, in snake case. */
export interface HarvesterConfig {
  scheme_version?: number;
  server_url?: string;
  token?: string;
  os?: {
    hostname?: string;
    password?: string;
    ssh_authorized_keys?: string[];
    dns_nameservers?: string[];
    labels?: Record<string, string>;
  };
  install?: {
    automatic?: boolean;
    skipchecks?: boolean;
    mode?: string;
    role?: string;
    cordoned?: boolean;
    poweroff?: boolean;
    networks?: Record<string, Network>;
    management_interface?: Network;
    device?: string;
    data_disk?: string;
    force_mbr?: boolean;
    config_url?: string;
    iso_url?: string;
    webhooks?: Webhook[];
  };
}

/** Brings any accepted spelling into the known form. Unknown keys are left out, as the loader ignores them. Throws `TypeError` naming the key whose value has the wrong type. */
export function canonical(value: unknown): HarvesterConfig {
  return shape(value ?? {}, CONFIG, "") as HarvesterConfig;
}

function shape(value: unknown, as: Shape, path: string): unknown {
  if (as === "leaf" || as === "flag" || as === "number") return scalar(value, as, path);
  if (as === "list") return asList(value).map((item) => shape(item, "leaf", path));
  if ("each" in as) return asList(value).map((item) => shape(interfaceObject(item, path), as.each, path));
  if (!isRecord(value)) return wrong(path, "a mapping");
  const out: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const [name, next] = "map" in as ? [key, as.map] : knownKey(key, as.keys);
    const says = item !== null && item !== undefined && key !== "__proto__";
    if (says && next !== undefined) out[name] = shape(item, next, path === "" ? name : `${path}.${name}`);
  }
  return out;
}

function scalar(value: unknown, as: "leaf" | "flag" | "number", path: string): string | boolean | number {
  const text = String(value);
  switch (as) {
    case "leaf":
      return typeof value === "object" ? wrong(path, "a text") : text;
    case "flag":
      return /^(true|false)$/.test(text) ? text === "true" : wrong(path, "true or false");
    case "number":
      return /^\d+$/.test(text) ? Number(value) : wrong(path, "a number");
  }
}

function wrong(path: string, wanted: string): never {
  throw new TypeError(`${path === "" ? "the configuration" : path} must be ${wanted}`);
}

/** The key as it is known, with what stands under it; undefined: it is not known. */
function knownKey(key: string, keys: Readonly<Record<string, Shape>>): [name: string, shape: Shape | undefined] {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[_-]/g, "");
  const wanted = plain(key);
  const name = Object.keys(keys).find((known) => plain(known) === wanted || plain(known) === `${wanted}s`);
  return [name ?? key, name === undefined ? undefined : keys[name]];
}

/** A NIC may be named by a text: `hwAddr:<mac>`, `name:<if>`, a bare MAC or name, or both joined by a comma. */
function interfaceObject(value: unknown, path: string): unknown {
  if (typeof value !== "string") return value;
  const out: Record<string, string> = {};
  for (const part of value.split(",").map((p) => p.trim().replaceAll(/\s*:\s*/g, ":"))) {
    const mac = /^(?:hwAddr:)?([0-9a-f]{2}(?::[0-9a-f]{2}){5})$/i.exec(part)?.[1];
    const name = /^(?:name:)?([^:\s]+)$/.exec(part)?.[1];
    if (mac !== undefined) out.hw_addr = mac;
    else if (name !== undefined) out.name = name;
    else throw new TypeError(`${path}: can't read the interface ${JSON.stringify(value)}`);
  }
  return out;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === null || value === undefined ? [] : [value];
}

/** Whether a value is a mapping, not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Joins two configurations: `base` wins where it says something (empty text, 0 and false say nothing), lists of both are appended. */
export function merge(base: HarvesterConfig, added: HarvesterConfig): HarvesterConfig {
  return mergeValues(base, added) as HarvesterConfig;
}

function mergeValues(base: unknown, added: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(added)) return [...base, ...added];
  if (isRecord(base) && isRecord(added)) {
    const out = { ...base };
    for (const [key, value] of Object.entries(added)) out[key] = mergeValues(base[key], value);
    return out;
  }
  return base === undefined || base === "" || base === 0 || base === false ? added : base;
}
