int opal_init(void);

int opal_init(void)
{
    return 0;
}
