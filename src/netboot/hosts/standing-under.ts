/**
 * How far a host is trusted where its namespaces have a say: a namespace can demand more than the settings, and less only where they allow it. Pure.
 */
import type { Host } from "./host.ts";
import type { Makers } from "./maker-doubt.ts";
import { DEMANDS, type NamespacePolicy, policyName } from "./namespace-policy.ts";
import { type Declaration, type Standing, standingOf, type TrustSetting } from "./trust.ts";

/** How far a host is trusted under the policies of all namespaces that have an object of it: each has to be met. */
export function standingUnder(
  host: Pick<Host, "agentKey" | "approval" | "session" | "ports" | "tpm">,
  declaration: Declaration,
  setting: TrustSetting,
  makers?: Makers,
): Standing {
  const { policies = [] } = declaration;
  const lax = policies.filter(({ demands }) => demands === "first-seen");
  const isLax = setting === "by-namespace" && lax.length > 0 && lax.length === policies.length;
  const standing = standingOf(host, declaration, isLax || setting === "first-seen" ? "first-seen" : "approved", makers);
  for (const policy of policies) {
    const missing = missingOf(policy, standing, host);
    if (missing !== undefined) return { trust: "discovered", ...missing };
  }
  if (standing.trust !== "discovered" || lax.length === 0 || setting !== "approved") return standing;
  const because = `${standing.because}; ${policyName(lax[0]!)} has no effect while the setting is --trust ${setting}`;
  return { ...standing, because };
}

type Asking = Pick<Host, "session" | "tpm">;
type Missing = Pick<Standing, "because" | "lacks"> | undefined;

/** What the standing has not that the policy demands; undefined: it has all. */
function missingOf(policy: NamespacePolicy, standing: Standing, host: Asking): Missing {
  const name = policyName(policy);
  switch (policy.demands) {
    case "usual":
    case "first-seen":
      return undefined;
    case "approved":
      return approvalMissing(name, standing);
    case "bmc":
      return bootMissing(name, standing, host);
    case "tpm":
      return tpmMissing(name, standing, host);
    case "unknown":
      return { because: `${name} is none of ${DEMANDS.join(", ")}, so no host there is trusted` };
    case "unread":
      return { because: `the policy of namespace ${policy.namespace} is not known yet` };
  }
}

function approvalMissing(name: string, { trust, because }: Standing): Missing {
  if (trust === "approved") return undefined;
  return { because: `${name} demands an approval: ${trust === "discovered" ? because : `it is only ${trust}`}` };
}

/** Another key or TPM than the approved one is no less another machine because it was started by its BMC. */
function bootMissing(name: string, { trust, because }: Standing, { session }: Asking): Missing {
  if (session?.isAsked === true) return trust === "discovered" ? { because } : undefined;
  return {
    because: `${name} demands a boot that its BMC was asked for, and it has shown no value of one`,
    lacks: "bmc",
  };
}

function tpmMissing(name: string, { trust, because, tpm }: Standing, host: Asking): Missing {
  if (tpm !== undefined) return undefined;
  if (host.tpm === undefined)
    return { because: `${name} demands an approved TPM: its agent has proven none`, lacks: "tpm" };
  const missing = trust === "approved" ? "approve it again, since its approval is for no TPM" : because;
  return { because: `${name} demands an approved TPM: ${missing}` };
}
