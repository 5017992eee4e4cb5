import { isFault } from "@slipway/base";
import { at, type Body, linkAt, textsAt } from "./body.ts";
import type { RedfishConnection, Resource } from "./connection.ts";

const SETTINGS = "@Redfish.Settings";

/** The resource where changes wait for the next start (DSP0266, settings resource); undefined: there is none. */
export async function settingsOf(
  connection: RedfishConnection,
  { body }: Resource,
  signal: AbortSignal,
): Promise<Resource | undefined> {
  const link = linkAt(body, SETTINGS, "SettingsObject");
  if (link === undefined) return undefined;
  try {
    return await connection.get(connection.pathOf(link), signal);
  } catch (error) {
    if (isFault(error, "NotFound", "Unsupported")) return undefined;
    throw error;
  }
}

/** When a change of the settings takes effect, where the resource lets the client say so: at once if it can. */
export function applyTime(body: Body): Body {
  const offered = textsAt(at(body, SETTINGS), "SupportedApplyTimes") ?? [];
  const time = ["Immediate", "OnReset"].find((one) => offered.includes(one));
  return time === undefined ? {} : { "@Redfish.SettingsApplyTime": { ApplyTime: time } };
}
