/** An amount for people. */
export const renderAmount = (amount: number): string => `${amount.toFixed(2)} EUR`;
