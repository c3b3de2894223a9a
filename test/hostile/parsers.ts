import { publishedPorts } from '#core/access/port-tunnel.ts'
import { readLine, speaksOf } from '#core/copies/step.ts'
import { cleanLine } from '#core/instances/instance-view.ts'
import { createMask } from '#platform/mask.ts'
import { isTooMuch } from '#renderer/screens/templates/readmeWork.ts'
import { cleanDetail } from '#service/http/failure.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { safeLabel } from '#ssh/config-text.ts'
import { localName } from '#ssh/files/transfer/local-names.ts'
import { logPlaces } from '#ssh/monitor/log.ts'
import { readDisks, readGpus, readTraffic } from '#ssh/monitor/metrics.ts'
import { plainLastLine, plainLine, plainOutput } from '#ssh/monitor/plain-output.ts'
import { readJupyterList } from '#ssh/tunnels/jupyter.ts'

const mask = createMask()

/** Characters of a text longer than any limit. */
export const long = 300 * 1024
/** For parsers whose callers limit the text. Cursor moves and tabs expand output at most tenfold. */
const all = long

/** A parser of foreign text. */
export interface Parser {
  reads: string
  /** The most characters that reach one regular expression. */
  most: number
  read(text: string): unknown
}

/** All parsers of text from a host, a start script, a service or an author. */
export const parsers: readonly Parser[] = [
  { reads: 'the GPUs of nvidia-smi', most: 4096, read: readGpus },
  { reads: 'the disks of df', most: 4096, read: readDisks },
  { reads: 'the traffic of interfaces', most: 4096, read: readTraffic },
  { reads: 'the start script’s log files', most: 262_144, read: logPlaces },
  { reads: 'a line of a log', most: 10 * 4096, read: plainLine },
  { reads: 'the list of Jupyter servers', most: 8192, read: readJupyterList },
  { reads: 'a status line', most: 2000, read: cleanLine },
  { reads: 'the status line of a copy', most: 16_384, read: text => readLine(text, ['/a']) },
  { reads: 'the kind of a copy', most: 16_384, read: text => speaksOf('copy', text, ['/a']) },
  { reads: 'the ports of a template', most: 65_536, read: publishedPorts },
  { reads: 'the words of a service', most: 6000, read: text => cleanDetail(text, ['secret']) },
  { reads: 'the label of an instance', most: 4096, read: safeLabel },
  { reads: 'the output of a run', most: 10 * all, read: plainOutput },
  { reads: 'the last line of a run', most: 10 * all, read: plainLastLine },
  {
    reads: 'a remote name, for this machine',
    most: 4096,
    read: name => localName(name, 'win32'),
  },
  { reads: 'a remote name, for the screen', most: 8192, read: harmless },
  { reads: 'what is masked in the log', most: all, read: mask },
  { reads: 'whether a readme is formatted', most: 262_144, read: isTooMuch },
]
