import { expect, test } from 'vitest'
import { draftOf } from '#renderer/features/templates/templateForm.ts'
import { secretsInTemplate } from '#renderer/screens/templates/editor/templateForm.svelte.ts'
import { soundsSecret } from '#shared/instance/secrets.ts'

test('names such as HF_TOKEN sound secret', () => {
  expect(['HF_TOKEN', 'WANDB_API_KEY', 'db_password'].every(soundsSecret)).toBe(true)
  expect(['PORT', 'KEYBOARD', 'MODEL'].some(soundsSecret)).toBe(false)
})

test('secrets are found in a template’s variables, start script and arguments', () => {
  expect(
    secretsInTemplate({
      env: '-e HF_TOKEN=hf_abc -e MODE=train -p 8080:8080',
      onstart: 'export WANDB_API_KEY="abc"\npython train.py',
      args: '--api_key=abc --lr=0.1',
    }),
  ).toEqual(['HF_TOKEN', 'WANDB_API_KEY', 'api_key'])
})

test('a secret without a value or from another variable does not count', () => {
  expect(secretsInTemplate({ env: '-e HF_TOKEN=', onstart: 'export HF_TOKEN="$TOKEN"', args: '' })).toEqual(
    [],
  )
})

test('a new template is private, an edited one keeps its visibility', () => {
  expect(draftOf({}).private).toBe(true)
  expect(draftOf({ name: 'a', hash: 'b', private: false }).private).toBe(false)
})
