/** The numbers of the options that are read or written (RFC 2132, the others as noted), by what they mean. */
export const OPTION = {
  subnetMask: 1,
  routers: 3,
  nameServers: 6,
  logServers: 7,
  hostName: 12,
  domainName: 15,
  mtu: 26,
  broadcastAddress: 28,
  timeServers: 42,
  vendorSpecific: 43,
  requestedAddress: 50,
  leaseTime: 51,
  messageType: 53,
  serverIdentifier: 54,
  parameterList: 55,
  message: 56,
  longestMessage: 57,
  renewalTime: 58,
  rebindingTime: 59,
  vendorClass: 60,
  clientIdentifier: 61,
  bootServer: 66,
  bootFile: 67,
  /** RFC 3004. */
  userClass: 77,
  /** RFC 3046. */
  relayAgent: 82,
  /** RFC 4578. */
  clientArchitecture: 93,
  /** RFC 4578. */
  machineIdentifier: 97,
  /** RFC 3011. */
  subnetSelection: 118,
  /** RFC 3397. */
  domainSearch: 119,
  /** RFC 3442. */
  classlessRoutes: 121,
  /** RFC 5859. */
  tftpServers: 150,
  /** iPXE's own, encapsulated. */
  ipxe: 175,
} as const;
