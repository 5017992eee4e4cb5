/**
 * What cloud-init does with user data at a machine's first boot: it fills in the template, reads the configuration, writes files. SIMULATION:
 * files are kept in memory, and commands are recorded, not run.
 */
import { load } from "js-yaml";

export interface Instance {
  /** As the provider's metadata service gives it. */
  id: string;
  hostname: string;
}

export interface Seeded {
  /** By path. */
  files: ReadonlyMap<string, string>;
  /** In the order in which they would run. */
  commands: readonly string[];
}

export type SeedEnd = ({ is: "seeded" } & Seeded) | { is: "failed"; message: string };

const TEMPLATE = /^## template: *jinja *\r?\n/;
const CLOUD_CONFIG = "#cloud-config";

/** Whether cloud-init takes this for its configuration. */
export const isCloudConfig = (userData: string): boolean => userData.replace(TEMPLATE, "").startsWith(CLOUD_CONFIG);

/** What the user data leaves on the machine. `failed`: cloud-init would give up, for that reason. */
export function seed(userData: string, instance: Instance): SeedEnd {
  const isTemplate = TEMPLATE.test(userData);
  const text = userData.replace(TEMPLATE, "");
  const filled = isTemplate ? filledIn(text, instance) : text;
  let config: unknown;
  try {
    config = load(filled);
  } catch (error) {
    return {
      is: "failed",
      message: `cloud-init: the user data is no YAML: ${String((error as Error).message).split("\n")[0]}`,
    };
  }
  if (typeof config !== "object" || config === null || Array.isArray(config))
    return { is: "failed", message: "cloud-init: the user data is no mapping" };
  const { write_files: files = [], runcmd = [], bootcmd = [] } = config as Record<string, unknown[]>;
  if (![files, runcmd, bootcmd].every(Array.isArray))
    return { is: "failed", message: "cloud-init: write_files, runcmd and bootcmd must be lists" };
  const written = new Map<string, string>();
  for (const file of files as { path?: string; content?: string; encoding?: string; append?: boolean }[]) {
    if (typeof file?.path !== "string")
      return { is: "failed", message: "cloud-init: a file of write_files has no path" };
    const content =
      file.encoding === "base64" ? Buffer.from(file.content ?? "", "base64").toString() : (file.content ?? "");
    written.set(file.path, file.append === true ? `${written.get(file.path) ?? ""}${content}` : content);
  }
  const commands = [...bootcmd, ...runcmd].map((command) =>
    Array.isArray(command) ? command.join(" ") : String(command),
  );
  return { is: "seeded", files: written, commands };
}

/** The variables that Cluster API's users write; any other is filled in as cloud-init does it: visibly. */
function filledIn(text: string, { id, hostname }: Instance): string {
  const known: Readonly<Record<string, string>> = {
    "v1.instance_id": id,
    "ds.meta_data.instance_id": id,
    "v1.local_hostname": hostname,
    "ds.meta_data.hostname": hostname,
    "ds.meta_data.local_hostname": hostname,
  };
  return text.replace(
    /\{\{\s*([A-Za-z0-9_.]+)\s*\}\}/g,
    (_, name: string) => known[name] ?? `CI_MISSING_JINJA_VAR/${name}`,
  );
}
