import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'

/** Runs one search at the service of the given address and prints the growth of this process's memory. */
const [baseUrl = ''] = process.argv.slice(2)
const client = createClient({ baseUrl: parseBaseUrl(baseUrl), key: 'bench', retries: 0 })
await client.account.currentUser()
globalThis.gc?.()
const before = process.memoryUsage().rss
const came = await client.offers.search({ limit: 20_000 }).then(
  offers => `${offers.length} offers`,
  (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
)
// maxRSS is in kilobytes.
const grown = process.resourceUsage().maxRSS * 1024 - before
process.stdout.write(JSON.stringify({ came, grown }))
process.exit(0)
