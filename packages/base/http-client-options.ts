import type { Clock } from "./clock.ts";

/** Answers larger than this are refused: a port answer is small enough to hold. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

export interface HttpClientOptions {
  clock?: Clock;
  /** PEM certificates trusted instead of the system's. */
  ca?: string;
  /** Shown to servers that ask for one. PEM. */
  client?: { certificatePem: string; keyPem: string };
  /** Takes any certificate: whoever answers is believed. Only for devices whose owner said so. */
  anyCertificate?: true;
  /** Answers larger than this are refused. Default: `MAX_ANSWER_BYTES`. */
  maxAnswerBytes?: number;
  /** Connects to this IP address, whatever the URL's host, whose name the certificate must still bear. */
  address?: string;
  /** Connects to this Unix socket, whatever the URL's host. */
  socket?: string;
  /** Sockets per origin at most. */
  connections?: number;
  /** Goes through the proxy of `proxyOfEnvironment`, where one is set. */
  proxy?: boolean;
}
