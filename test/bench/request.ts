import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { inTurn, type Row, ratioRow, type Size } from './row.ts'
import { startThousand } from './thousand.ts'

/** Compares a request through `service` with `fetch` and `JSON.parse` of the same answer. */
export async function requestRows({ smoke }: Size): Promise<Row[]> {
  const thousand = await startThousand()
  const client = createClient({ baseUrl: parseBaseUrl(thousand.baseUrl), key: 'k' })
  const url = `${thousand.baseUrl}/api/v0/instances/`
  try {
    const { first, second } = await inTurn(
      smoke ? 1 : 60,
      () => client.instances.list(),
      async () => JSON.parse(await (await fetch(url, { headers: { authorization: 'Bearer k' } })).text()),
    )
    const size = (thousand.body().length / 1_000_000).toFixed(1)
    return [
      ratioRow(
        'a request through service',
        `fetch and JSON.parse of the same ${size} MB`,
        first / second,
        1.15,
      ),
    ]
  } finally {
    await thousand.close()
  }
}
