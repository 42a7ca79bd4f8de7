int solver_init(void);

int main(void)
{
    return solver_init();
}
