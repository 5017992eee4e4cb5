import type { Fault } from "@slipway/base";
import { forbidden, refusal } from "../model/status.ts";
import type { Attributes } from "./attributes.ts";
import type { Authorize } from "./authorize.ts";

/** Goes on only when it is permitted. Throws Forbidden. */
export async function permit(asked: Attributes, authorize: Authorize): Promise<void> {
  const { allowed, reason } = await authorize(asked);
  if (!allowed) throw denied(asked, reason);
}

/** The refusal of what was not permitted, in kube-apiserver's words. */
export function denied(asked: Attributes, reason: string | undefined): Fault {
  const { group, plural, name } = asked;
  const why = reason === undefined || reason === "" ? "" : `: ${reason}`;
  const text = unlikeHtml(what(asked)) + why;
  return plural === "" && group === ""
    ? refusal("Forbidden", `forbidden: ${text}`, {})
    : forbidden({ group, plural, kind: plural }, name, text);
}

function what({ user, verb, group, plural, subresource, namespace, path }: Attributes): string {
  const who = `User ${JSON.stringify(user.name)} cannot`;
  if (plural === "") return `${who} ${verb} path ${JSON.stringify(path)}`;
  const resource = JSON.stringify(subresource === "" ? plural : `${plural}/${subresource}`);
  const where = namespace === "" ? "at the cluster scope" : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} ${verb} resource ${resource} in API group ${JSON.stringify(group)} ${where}`;
}

/** Nothing that a browser could take for markup is echoed. */
function unlikeHtml(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
