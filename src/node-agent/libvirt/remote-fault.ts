import { type Code, Fault } from "@slipway/base";
import type { RemoteError } from "./procedures.ts";

/** libvirt's error numbers (`virErrorNumber`) that mean something to a caller. */
const CODES: Readonly<Record<number, Code>> = {
  3: "Unsupported", // NO_SUPPORT
  8: "Invalid", // INVALID_ARG
  20: "AlreadyExists", // DOM_EXIST
  27: "Invalid", // XML_ERROR
  35: "Invalid", // XML_DETAIL
  42: "NotFound", // NO_DOMAIN
  43: "NotFound", // NO_NETWORK
  45: "BadCredentials", // AUTH_FAILED
  49: "NotFound", // NO_STORAGE_POOL
  50: "NotFound", // NO_STORAGE_VOL
  55: "Conflict", // OPERATION_INVALID: not in this state
  67: "Unsupported", // CONFIG_UNSUPPORTED
  68: "Timeout", // OPERATION_TIMEOUT
  79: "BadCredentials", // AUTH_CANCELLED
  84: "Unsupported", // OPERATION_UNSUPPORTED
  88: "Forbidden", // ACCESS_DENIED
  90: "AlreadyExists", // STORAGE_VOL_EXIST
};

/** What libvirt answered, as a fault: its message, with its numbers in the details. Numbers without a meaning here are `Internal`, tried again. */
export function remoteFault(procedure: string, { code, domain, level, message }: RemoteError): Fault {
  return new Fault(
    CODES[code] ?? "Internal",
    "libvirt",
    `${procedure}: ${message ?? "it gave no reason"} (error ${code})`,
    {
      details: { code, domain, level },
    },
  );
}
