import { randomBytes } from 'node:crypto';
import { generateSigningKeys } from '@fixpoint/validator/token-keys';
import { environmentFile, newEnvironment } from './new-environment.ts';

const kid = new Date().toISOString().slice(0, 10);
const secret = (): string => randomBytes(24).toString('hex');
const keys = { signingKeys: generateSigningKeys(kid), decisionKeys: generateSigningKeys(`decisions-${kid}`) };
process.stdout.write(environmentFile(newEnvironment({ secret, ...keys })));
