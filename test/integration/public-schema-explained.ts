const onlyWhereThere = 'The document itself says that these keys are there only where the contract has them.'

/** The known differences between the simulator's public profile and the public documents, with reasons. */
export const explained: Readonly<Record<string, string>> = {
  'GET /api/v0/charges/ 200: results[].metadata.endpoint_id is missing': onlyWhereThere,
  'GET /api/v0/charges/ 200: results[].metadata.label is missing': onlyWhereThere,
  'GET /api/v0/charges/ 200: results[].metadata.template_id is missing': onlyWhereThere,
  'GET /api/v0/charges/ 200: results[].metadata.workergroup_id is missing': onlyWhereThere,
  'GET /api/v0/charges/ 400: error is missing': 'The example of this answer has no code either.',
  'GET /api/v0/instances/{id}/ 200: instances.ports is no array':
    'The list describes an object of mappings, and every client reads that of a single instance too.',
  'GET /api/v0/users/current/ 200: ssh_key is null': 'Clients meet null where the account has no key.',
  'GET /api/v1/instances/ 200: instances[].onstart is null':
    'The same field of a single instance is described as nullable; a list of the same records cannot do better.',
}
