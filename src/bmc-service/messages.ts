import type { HttpAnswer } from "@slipway/base";

/** The version of DMTF's Base registry whose ids are used. */
export const BASE = "Base.1.19";

/** Messages of the Base registry that the service gives, with its texts. `%1` stands for the first argument. */
const MESSAGES = {
  GeneralError:
    "A general error has occurred.  See Resolution for information on how to resolve the error, or @Message.ExtendedInfo if Resolution is not provided.",
  MalformedJSON: "The request body submitted was malformed JSON and could not be parsed by the receiving service.",
  NoOperation: "The request body submitted contain no data to act upon and no changes to the resource took place.",
  PropertyUnknown: "The property %1 is not in the list of valid properties for the resource.",
  PropertyNotWritable: "The property %1 is a read-only property and cannot be assigned a value.",
  PropertyValueNotInList: "The value '%1' for the property %2 is not in the list of acceptable values.",
  PropertyValueTypeError: "The value '%1' for the property %2 is not a type that the property can accept.",
  ActionParameterMissing: "The action %1 requires that the parameter %2 be present in the request body.",
  ActionParameterNotSupported: "The parameter %1 for the action %2 is not supported on the target resource.",
  ActionParameterValueNotInList:
    "The value '%1' for the parameter %2 in the action %3 is not in the list of acceptable values.",
  CreateFailedMissingReqProperties:
    "The create operation failed because the required property %1 was missing from the request.",
  CreateLimitReachedForResource:
    "The create operation failed because the resource has reached the limit of possible resources.",
  ResourceMissingAtURI: "The resource at the URI %1 was not found.",
  OperationNotAllowed: "The HTTP method is not allowed on this resource.",
  QueryNotSupported: "Querying is not supported by the implementation.",
  NoValidSession: "There is no valid session established with the implementation.",
  InsufficientPrivilege:
    "There are insufficient privileges for the account or credentials associated with the current session to perform the requested operation.",
  PreconditionFailed: "The ETag supplied did not match the ETag required to change this resource.",
  ServiceTemporarilyUnavailable: "The service is temporarily unavailable.  Retry in %1 seconds.",
  InternalError: "The request failed due to an internal service error.  The service is still operational.",
} as const;

export type MessageId = keyof typeof MESSAGES;

/** A message with its arguments, as schema Message has it. */
export function message(id: MessageId, ...args: readonly string[]): object {
  const shown = args.map((one) => one.slice(0, 128));
  return {
    "@odata.type": "#Message.v1_2_1.Message",
    MessageId: `${BASE}.${id}`,
    Message: shown.reduce((text, one, i) => text.replaceAll(`%${i + 1}`, () => one), MESSAGES[id]),
    MessageArgs: shown,
    MessageSeverity: "Critical",
    Resolution: "None.",
  };
}

/** An error answer (DSP0266, error responses). */
export function errorAnswer(
  status: number,
  messages: readonly object[],
  headers: Record<string, string> = {},
): HttpAnswer {
  const [first] = messages as readonly { MessageId: string; Message: string }[];
  const error = { code: first!.MessageId, message: first!.Message, "@Message.ExtendedInfo": messages };
  return {
    status,
    headers: { ...COMMON, "content-type": "application/json", ...headers },
    body: JSON.stringify({ error }),
  };
}

/** A refusal with one message of the Base registry; `args` fill its places in order. */
export function refuse(status: number, id: MessageId, ...args: readonly string[]): HttpAnswer {
  return errorAnswer(status, [message(id, ...args)]);
}

/** What every answer has (DSP0266, response headers). */
export const COMMON: Readonly<Record<string, string>> = {
  "odata-version": "4.0",
  "cache-control": "no-cache",
  "x-content-type-options": "nosniff",
};
