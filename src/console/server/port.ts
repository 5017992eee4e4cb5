/** Where the console listens unless another port is chosen. */
export const CONSOLE_PORT = 8070;
