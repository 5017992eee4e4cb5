import { isRecord } from "../json/value.ts";
import { forbidden, notSupported, required } from "../model/field-error.ts";
import type { FieldError } from "../model/served.ts";
import { addressErrors } from "../webhook/client-config-rules.ts";
import { reviewVersionErrors } from "../webhook/review-version-rules.ts";

const UNWANTED = "should not be set when strategy is not set to Webhook";

/** What is wrong with `spec.conversion` of a definition. Paths are those of upstream's internal type, which has no `webhook` level. */
export function conversionErrors(conversion: Record<string, unknown>, at: string): FieldError[] {
  const { strategy = "None" } = conversion;
  const webhook = isRecord(conversion.webhook) ? conversion.webhook : {};
  const config = isRecord(webhook.clientConfig) ? webhook.clientConfig : undefined;
  const versions = Array.isArray(webhook.conversionReviewVersions) ? webhook.conversionReviewVersions : [];
  if (strategy !== "Webhook") {
    const errors = strategy === "None" ? [] : [notSupported(`${at}.strategy`, strategy, ["None", "Webhook"])];
    if (config !== undefined) errors.push(forbidden(`${at}.webhookClientConfig`, UNWANTED));
    if (versions.length > 0) errors.push(forbidden(`${at}.conversionReviewVersions`, UNWANTED));
    return errors;
  }
  const where = `${at}.webhookClientConfig`;
  const addressed =
    config === undefined
      ? [required(where, "required when strategy is set to Webhook")]
      : (config.url === undefined) === (config.service === undefined)
        ? [required(where, "exactly one of url or service is required")]
        : addressErrors(config, where);
  return [...addressed, ...reviewVersionErrors(versions, `${at}.conversionReviewVersions`, "")];
}
