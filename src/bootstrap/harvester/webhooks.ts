import type { BootPath } from "../capability.ts";
import type { InstallerWebhook } from "./join.ts";

/** The calls by which the installer tells the boot service how far it is: the positive end-of-installation signal. */
export function bootWebhooks(urls: Readonly<Record<BootPath, string>>): readonly InstallerWebhook[] {
  return [
    { event: "STARTED", method: "POST", url: urls["events/started"] },
    { event: "SUCCEEDED", method: "POST", url: urls["events/succeeded"] },
    { event: "FAILED", method: "POST", url: urls["events/failed"] },
  ];
}
