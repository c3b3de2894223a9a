import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { startSimulator } from '#simulator/simulator.ts'
import { median, type Row, type Size } from './row.ts'

/** The parts that a hostile service repeats endlessly in its answer to a search. */
const endless: Record<string, string> = {
  'a bomb of gzip': ' '.repeat(64_000),
  'one long text': 'x'.repeat(64_000),
  '{},': '{},',
  '[],': '[],',
  '0,': '0,',
  '[': '[',
  '{"":': '{"":',
  'texts,': '"abcdefghijkl",',
}

/** Compares the memory of endless or dense answers with that of a search of 20,000 offers. */
export async function answerSizeRows({ smoke }: Size): Promise<Row[]> {
  const rounds = smoke ? 1 : 3
  const some = <Kind>(kinds: Record<string, Kind>) => Object.entries(kinds).slice(0, smoke ? 1 : undefined)
  const legitimate = await offersAnswer()
  const largest = await growth(rounds, response => response.end(legitimate))
  const rows: Row[] = []
  const compared = `beside a search of 20,000 offers, ${mb(largest.grown)}`
  for (const [name, part] of some(endless)) {
    const { came, grown } = await growth(rounds, response => sendEndless(response, part))
    rows.push(row(`memory beside an endless answer: ${name}`, compared, grown, largest.grown, came))
  }
  for (const [name, text] of some(fullAnswers(legitimate.length))) {
    const { came, grown } = await growth(rounds, response => response.end(text))
    rows.push(row(`memory beside a dense answer: ${name}`, compared, grown, largest.grown, came))
  }
  return rows
}

/** Complete answers of dense JSON, some just within the limit and others beyond it. */
function fullAnswers(length: number): Record<string, string> {
  const numbered = (count: number, each: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => each(index)).join(',')
  return {
    '{} of 15 MB': `{"offers":[${'{},'.repeat(length / 3)}{}]}`,
    'a million different keys': `{"offers":[],${numbered(1_000_000, index => `"k${index}":1`)}}`,
    '100,000 different keys': `{"offers":[],${numbered(100_000, index => `"k${index}":1`)}}`,
    'a million different records': `{"offers":[],"n":[${numbered(1_000_000, index => `{"k${index}":1}`)}]}`,
    '100,000 different records': `{"offers":[],"n":[${numbered(100_000, index => `{"k${index}":1}`)}]}`,
    '{} of 1.4 MB': `{"offers":[],"n":[${'{},'.repeat(450_000)}{}]}`,
    'a million numbers': `{"offers":[],"n":[${numbered(1_000_000, index => `${index}.5`)}]}`,
    'a million texts': `{"offers":[],"n":[${numbered(1_000_000, index => `"text ${index}"`)}]}`,
  }
}

function row(what: string, compared: string, grown: number, largest: number, came: string): Row {
  const ratio = grown / largest
  return {
    what: `${what} (${came})`,
    compared,
    measured: `${ratio.toFixed(2)} ×, ${mb(grown)}`,
    budget: 'at most 1.5 ×',
    kept: ratio <= 1.5,
  }
}

function mb(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(0)} MB`
}

async function offersAnswer(): Promise<string> {
  const simulator = await startSimulator({ seed: 7, speed: 1, offers: 20_000, calm: true })
  try {
    const response = await fetch(`${simulator.baseUrl}/api/v0/bundles/`, {
      method: 'POST',
      headers: { authorization: `Bearer ${simulator.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ limit: 20_000, rentable: {} }),
    })
    return await response.text()
  } finally {
    await simulator.close()
  }
}

/** Sends `part` repeatedly with gzip until the client disconnects. */
async function sendEndless(response: ServerResponse, part: string): Promise<void> {
  response.writeHead(200, { 'content-encoding': 'gzip' })
  const gzip = createGzip({ level: 1 })
  gzip.pipe(response)
  const chunk = part.repeat(Math.ceil(64_000 / part.length))
  gzip.write('{"offers":[')
  const closed = once(response, 'close')
  while (!response.destroyed) {
    if (gzip.write(chunk)) await new Promise(setImmediate)
    else await Promise.race([new Promise(drained => gzip.once('drain', drained)), closed])
  }
  gzip.destroy()
}

async function growth(
  rounds: number,
  send: (response: ServerResponse) => unknown,
): Promise<{ came: string; grown: number }> {
  const user = JSON.stringify({ id: 7, email: 'user@example.com', credit: 5, tfa_status: 'disabled' })
  const server = createServer((request, response) => {
    request.resume()
    if (request.method === 'GET') response.end(user)
    else request.once('end', () => void send(response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const child = new URL('answer-child.ts', import.meta.url).pathname
  const seen: { came: string; grown: number }[] = []
  try {
    for (let round = 0; round < rounds; round += 1) {
      const args = ['--expose-gc', '--import', 'tsx', child, `http://127.0.0.1:${port}`]
      const { stdout } = await promisify(execFile)(process.execPath, args)
      seen.push(JSON.parse(stdout) as { came: string; grown: number })
    }
  } finally {
    server.closeAllConnections()
    await new Promise(done => server.close(done))
  }
  return { came: seen[0]?.came ?? '', grown: median(seen.map(({ grown }) => grown)) }
}
