/** What a host brings along in annotations: a status from another cluster, and hardware that nobody needs to look at. */
import { asFault } from "@slipway/base";
import { z } from "zod";
import { BareMetalHost } from "../../kinds/metal3/bare-metal-host.ts";
import { HardwareDetails } from "../../kinds/metal3/hardware.ts";
import { annotatedObject, HARDWARE_DETAILS, hostAnnotations, STATUS } from "./annotations.ts";
import type { Facts } from "./facts.ts";
import { event, told } from "./moves.ts";
import type { Fields, HostStep } from "./step.ts";

/**
 * Takes over the status that an object brought along (clusterctl move, Metal3's pivot); undefined: it brought none. One that can't be read is an
 * error on the object until it is corrected: a host that is in use must not be taken for a new one.
 */
export function takeOverStatus(at: Facts): HostStep | undefined {
  if (hostAnnotations(at.host)[STATUS] === undefined) return undefined;
  const given = read(at, STATUS, BareMetalHost.status!);
  if ("do" in given) return given;
  // Metal3's Cluster API provider leaves the hardware out of it: that moves as HardwareData.
  const { hardware = at.recorded, ...status } = given.value as Fields;
  const fields = told(at, { ...status, ...(hardware !== undefined && { hardware }) });
  return { do: "write", fields, event: event("StatusTakenOver", `from ${STATUS}`) };
}

/** Writes down the hardware that the host brought along; undefined: it brought none, or it is written down. */
export function takeOverHardware(at: Facts): HostStep | undefined {
  if (at.host.status?.hardware !== undefined || hostAnnotations(at.host)[HARDWARE_DETAILS] === undefined)
    return undefined;
  const given = read(at, HARDWARE_DETAILS, HardwareDetails);
  return "do" in given ? given : { do: "describe", hardware: given.value };
}

function read<T>(at: Facts, name: string, schema: z.ZodType<T>): { value: T } | HostStep {
  try {
    const parsed = schema.safeParse(annotatedObject(at.host, name));
    if (parsed.success) return { value: parsed.data };
    return unreadable(at, `annotation ${name}: ${z.prettifyError(parsed.error).slice(0, 1_000)}`);
  } catch (error) {
    return unreadable(at, asFault(error, at.host.metadata.name).advice);
  }
}

function unreadable(at: Facts, message: string): HostStep {
  if (at.host.status?.errorMessage === message) return { do: "wait", forWhat: message };
  const fields = told(at, { operationalStatus: "error", errorType: "registration error", errorMessage: message });
  return { do: "write", fields, event: { type: "Warning", reason: "RegistrationError", message } };
}
