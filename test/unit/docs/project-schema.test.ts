import { toJsonSchema } from '@valibot/to-json-schema'
import { expect, test } from 'vitest'
import { ProjectSpec } from '#shared/project/spec.ts'

test('the published schema of berth.yaml matches the code’s', async () => {
  const schema = {
    ...toJsonSchema(ProjectSpec, { typeMode: 'input', errorMode: 'ignore' }),
    title: 'berth.yaml',
    description: 'A folder that Berth runs on a rented machine.',
  }
  const text = `${JSON.stringify(schema, null, 2)}\n`
  await expect(text).toMatchFileSnapshot('../../../docs/berth.schema.json')
})
