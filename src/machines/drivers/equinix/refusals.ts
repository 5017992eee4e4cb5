import { type Code, Fault } from "@slipway/base";

/** A refusal's text → what it means. The first that matches counts; what matches none is about the request itself. */
const MEANINGS: readonly { says: RegExp; code: Code; remedy?: string; retryAfterMs?: number }[] = [
  {
    says: /already (configured|bonded|disbonded|layer ?[23]|assigned|unassigned|powered|active|inactive|deprovisioning)/i,
    code: "AlreadyConfigured",
  },
  {
    says: /(is|are) not (bonded|assigned)|already (in|has|exists|been (requested|assigned))|has already been taken|being deleted/i,
    code: "AlreadyConfigured",
  },
  { says: /\blocked\b/i, code: "Locked", remedy: "unlock the device at the provider" },
  {
    says: /while it is (queued|provisioning|reinstalling|powering)|(currently|still) (queued|provisioning|reinstalling)|in progress/i,
    code: "Unavailable",
    remedy: "none needed: it is tried again",
    retryAfterMs: 15_000,
  },
  {
    says: /(no|aren't|not enough|insufficient) .*(provisionable|available|capacity|servers|reservations?)|no capacity|out of stock|\bbid\b|spot .*price|not provisionable/i,
    code: "NoCapacity",
    remedy: "allow another metro or plan, or wait",
  },
  {
    says: /virtual network .*(not (be )?found|does not exist)/i,
    code: "MissingInput",
    remedy: "create the VLAN in that metro, or let networkingConfiguration.createVLANs do it",
  },
  {
    says: /(quota|maximum number|device limit|limit .*(reached|exceeded))/i,
    code: "NoCapacity",
    remedy: "ask the provider to raise the project's limit, or release devices",
  },
];

/**
 * What a 422 means. `texts`: the API's own, kept in the message so that the user can read them.
 * `mayBeDone`: the call asked for a state, so a refusal because it is so already is `AlreadyConfigured`.
 */
export function refusal(on: string, texts: readonly string[], mayBeDone: boolean): Fault {
  const text = texts.join("; ") || "refused without a reason";
  const meaning = MEANINGS.find(({ says, code }) => says.test(text) && (mayBeDone || code !== "AlreadyConfigured"));
  if (meaning === undefined)
    return new Fault("Invalid", on, `the API refused: ${text}`, { remedy: "correct the order" });
  return new Fault(meaning.code, on, `the API refused: ${text}`, {
    ...(meaning.remedy === undefined ? {} : { remedy: meaning.remedy }),
    ...(meaning.retryAfterMs === undefined ? {} : { retryAfterMs: meaning.retryAfterMs }),
  });
}

const MAX_TEXTS = 5;
const MAX_TEXT_LENGTH = 300;

/** The reasons in an error's body (`{"errors": […]}` or `{"error": "…"}`), bounded: they end in conditions and events. */
export function reasons(body: string): readonly string[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return [];
  }
  if (typeof parsed !== "object" || parsed === null) return [];
  const { errors, error } = parsed as { errors?: unknown; error?: unknown };
  const all = Array.isArray(errors) ? errors : [error];
  return all
    .filter((one): one is string => typeof one === "string" && one !== "")
    .slice(0, MAX_TEXTS)
    .map((one) => one.slice(0, MAX_TEXT_LENGTH));
}
