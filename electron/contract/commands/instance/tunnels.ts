import * as v from 'valibot'
import type { OfferedPort, OpenedAddress } from '#contract/instance/tunnel.ts'
import { command, onInstance } from '../command.ts'

const port = v.pipe(
  v.number('a port is a number'),
  v.integer('a port is a whole number'),
  v.minValue(1, 'ports begin at 1'),
  v.maxValue(65_535, 'ports end at 65535'),
)

/** Web interfaces and other ports inside an instance. Progress is in the account's tunnels in State. */
export const tunnelCommands = {
  /**
   * Answers once Jupyter is ready, and opens it in the browser unless `open` is false. An open tunnel is used again.
   */
  openJupyter: command({ ...onInstance, open: v.optional(v.boolean()) }).answers<OpenedAddress>(),
  /** Forwards a port, and opens it in the browser if a web server answers. */
  openPort: command({ ...onInstance, port }).answers<OpenedAddress>(),
  /** Closes a tunnel, cancels one that is being opened, or removes a failed one. */
  closeTunnel: command({ ...onInstance, port }).answers<void>(),
  /** Tries the usual ports of web interfaces, and those that the instance was rented with. */
  findPorts: command(onInstance).answers<readonly OfferedPort[]>(),
}
