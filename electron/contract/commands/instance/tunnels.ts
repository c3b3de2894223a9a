import * as v from 'valibot'
import type { OfferedPort, OpenedAddress } from '../../instance/tunnel.ts'
import { command, onInstance } from '../command.ts'

const port = v.pipe(
  v.number('a port is a number'),
  v.integer('a port is a whole number'),
  v.minValue(1, 'ports begin at 1'),
  v.maxValue(65_535, 'ports end at 65535'),
)

/** Web interfaces and other ports inside an instance. Progress is told by the account's tunnels in State. */
export const tunnelCommands = {
  /**
   * Answers once Jupyter is ready. Asked again while its tunnel is open, it opens the same one in the browser. Where
   * `open` is false it gives the address alone.
   */
  openJupyter: command({ ...onInstance, open: v.optional(v.boolean()) }).answers<OpenedAddress>(),
  /** Forwards a port, and opens it in the browser where a web page answers. */
  openPort: command({ ...onInstance, port }).answers<OpenedAddress>(),
  /** Ends a tunnel, or the making of one; the problem of a failed one is forgotten. */
  closeTunnel: command({ ...onInstance, port }).answers<void>(),
  /** Tries the ports that are known to be web interfaces, and those the instance was rented with. */
  findPorts: command(onInstance).answers<readonly OfferedPort[]>(),
}
