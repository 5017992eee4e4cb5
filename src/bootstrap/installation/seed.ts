/** How cloud-init in an installed system finds its data: where the machine asks for them at its first boot. Pure. */

/** The last file that cloud-init reads of its own settings. */
export const SEED_FILE = "/etc/cloud/cloud.cfg.d/99-slipway.cfg";

/** The settings, one a line. Network, package sources and host keys stay as the installer made them; so do accounts, where those are `kept`. */
export function seedSettings(seedUrl: string, { users }: { users: "kept" | "of cloud-init" }): readonly string[] {
  return [
    "datasource_list: [NoCloud]",
    `datasource: {NoCloud: {seedfrom: ${JSON.stringify(seedUrl)}}}`,
    "network: {config: disabled}",
    "apt: {preserve_sources_list: true}",
    "ssh_deletekeys: false",
    ...(users === "kept" ? ["users: []"] : []),
  ];
}

/** User data that are those at another address, as cloud-init reads them. */
export const includedSeed = (seedUrl: string): string => `#include\n${seedUrl}user-data\n`;
