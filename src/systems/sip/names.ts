export const SIP = "sip";
/** Roles that have a meaning; others are hosts and labels alone. */
export const CONTROL_PLANE = "ControlPlane";
export const WORKER = "Worker";
