import { handOverScript, installScript } from "./boot-script.ts";
import { harvesterConfig } from "./config.ts";
import type { HarvesterJoin } from "./join.ts";

export interface BootRequest {
  join: HarvesterJoin;
  /** Where the installer fetches the configuration, and the firmware this script: capability URLs of the boot service, or the provider's metadata. */
  configUrl: string;
  selfUrl?: string;
  /** A script of the user's own, which takes the place of ours. It finds the configuration by itself, in the provider's user data. */
  userScriptUrl?: string;
  verifyTls?: boolean;
}

/** The two texts one boot needs. They fit each other: exactly one of them lists the management network's cards, if any is to. */
export interface Boot {
  script: string;
  /** Holds the join token and the password. */
  config: string;
}

/** What a machine is given to install Harvester and join. Throws `Fault` (`Invalid`) for what the firmware, the kernel or the installer would refuse. */
export function harvesterBoot(request: BootRequest): Boot {
  const { join, configUrl, selfUrl, userScriptUrl, verifyTls } = request;
  if (userScriptUrl !== undefined)
    return { script: handOverScript(userScriptUrl), config: harvesterConfig(join, "config") };
  const script = installScript({
    join,
    configUrl,
    ...(selfUrl === undefined ? {} : { selfUrl }),
    ...(verifyTls === undefined ? {} : { verifyTls }),
  });
  return { script, config: harvesterConfig(join, "bootScript") };
}
